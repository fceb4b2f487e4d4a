import { shared } from './shared.js';

export type Method = (this: unknown, ...args: never[]) => unknown;

/** Lets a call go by resolving, or refuses it by rejecting. */
export type Admit = (self: unknown, args: readonly unknown[], wrapper: Method) => Promise<void>;

/**
 * A method that asks `admit` before each call of `method`. It has the original's name, length, own properties and
 * metadata, because frameworks find what they know of a method by them.
 * @param limit names the limit among those of one method, each of which counts by itself
 * @throws TypeError when the method has that limit already
 */
export function wrapMethod(method: Method, limit: string, admit: Admit): Method {
  for (
    let inner = shared.wrapped.get(method);
    inner !== undefined;
    inner = shared.wrapped.get(inner.method)
  ) {
    if (inner.limit === limit) {
      throw new TypeError(
        `${limit} twice on one method would count in one place: give one of them a prefix of its own`,
      );
    }
  }
  const wrapper: Method = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
    await admit(this, args, wrapper);
    return Reflect.apply(method, this, args);
  };
  Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(method));
  copyMetadata(method, wrapper);
  shared.wrapped.set(wrapper, { method, limit });
  return wrapper;
}

/** Whether a function is `wrapper`, or one of our wrappers around it. */
export function wraps(outer: unknown, wrapper: Method): boolean {
  let method = outer as Method | undefined;
  while (method !== undefined && method !== wrapper) method = shared.wrapped.get(method)?.method;
  return method !== undefined;
}

/** The method inside all of our wrappers: the one whose parameters have the names that its author gave them. */
export function originalOf(method: Method): Method {
  let original = method;
  for (let inner = shared.wrapped.get(original); inner !== undefined; inner = shared.wrapped.get(original)) {
    original = inner.method;
  }
  return original;
}

/** What reflect-metadata adds to `Reflect`. We do not import it: when it is not loaded, there is no metadata to copy. */
interface MetadataReflection {
  getOwnMetadataKeys?(target: object): unknown[];
  getOwnMetadata(key: unknown, target: object): unknown;
  defineMetadata(key: unknown, value: unknown, target: object): void;
}

function copyMetadata(from: object, to: object): void {
  const reflection = Reflect as unknown as MetadataReflection;
  for (const key of reflection.getOwnMetadataKeys?.(from) ?? []) {
    reflection.defineMetadata(key, reflection.getOwnMetadata(key, from), to);
  }
}
