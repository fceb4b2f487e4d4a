import { type Method, wraps } from './wrap-method.js';

export type Class = abstract new (...args: never[]) => unknown;

/**
 * The class whose prototype has `wrapper` as its method `name`; undefined if the object has no such method. Standard decorators run before the
 * class exists, so the prototypes of the call's object are searched. This also works for `super.method()`.
 * @throws TypeError if other decorators hide which of several prototypes it is
 */
export function findDefiningClass(
  self: unknown,
  name: string | symbol,
  wrapper: Method,
  where: string,
): Class | undefined {
  const candidates: Class[] = [];
  for (let level = self; isObject(level); level = Object.getPrototypeOf(level)) {
    const method = Object.getOwnPropertyDescriptor(level, name)?.value as unknown;
    const owner = Object.getOwnPropertyDescriptor(level, 'constructor')?.value as unknown;
    if (typeof method !== 'function' || typeof owner !== 'function') continue;
    if (wraps(method, wrapper)) return owner as unknown as Class;
    candidates.push(owner as unknown as Class);
  }
  // Another decorator wraps ours, or a test replaced it by a spy.
  if (candidates.length > 1) {
    throw new TypeError(
      `${where}: another decorator hides whether this is the method of ${candidates.map(({ name }) => name).join(' or ')}: ` +
        'write this decorator above all others',
    );
  }
  return candidates[0];
}

/**
 * Names by compilers for a class without a name: `default`, `_default`, `default_1`, `index_default`, `_class`, `_a`. Not `_b` and on:
 * minifiers use these for classes with names.
 */
const NO_NAME = /^(?:_class|_a)?$|(?:^|_)default(?:_\d+)?$/;

/** @throws TypeError if there is no class, or it has no name: unrelated classes would share its limits */
export function className(where: string, owner: Class | undefined): string {
  if (owner === undefined) {
    throw new TypeError(
      `${where}: called without an object of its class, so its limit is unknown: call it as object.method(…), or bind it`,
    );
  }
  const name = owner.name as unknown;
  if (typeof name !== 'string' || NO_NAME.test(name)) {
    throw new TypeError(
      `${where}: its class has no name, so all classes without a name would share its limit: ` +
        'name the class (a minifier must keep class names), or pass a prefix and limitType IP, USER or CUSTOM',
    );
  }
  return name;
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
