import { type Method, wraps } from './wrap-method.js';

export type Class = abstract new (...args: never[]) => unknown;

/**
 * The class whose prototype has `wrapper` as its method `name`. Standard decorators run before there is a class, so it is
 * found from the object of a call: the prototype that holds the wrapper is the one that `super.method()` calls, too.
 * Undefined when the object has no such method.
 * @throws TypeError when other decorators hide which of several prototypes it is.
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
  // Another decorator stands around ours, or a test put a spy in its place.
  if (candidates.length > 1) {
    throw new TypeError(
      `${where}: another decorator hides whether this is the method of ${candidates.map(({ name }) => name).join(' or ')}: ` +
        'write it above all others',
    );
  }
  return candidates[0];
}

/**
 * What compilers call a class that has no name of its own: `default`, `_default`, `default_1`, `index_default`, `_class`, `_a`.
 * Not `_b` and on: minifiers give such names to classes that have one.
 */
const NO_NAME = /^(?:_class|_a)?$|(?:^|_)default(?:_\d+)?$/;

/** @throws TypeError when there is no class, or it has no name and so would share its limits with strangers. */
export function className(where: string, owner: Class | undefined): string {
  if (owner === undefined) {
    throw new TypeError(
      `${where}: called without an object of its class, so the limit that it belongs to is not known: ` +
        'call it as object.method(…), or bind it',
    );
  }
  const name = owner.name as unknown;
  if (typeof name !== 'string' || NO_NAME.test(name)) {
    throw new TypeError(
      `${where}: its class has no name, so its limit would be shared with every other class without one: ` +
        'name the class (a minifier must keep the names of classes), or give a prefix of your own and limitType IP, USER or CUSTOM',
    );
  }
  return name;
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
