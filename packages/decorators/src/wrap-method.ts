import { sharedByCopies, warnOnce } from '@sluice/core/internal';
import { withResponseHeaders } from '@sluice/http';

export type Method = (this: unknown, ...args: never[]) => unknown;

export interface Permits {
  /** Returns all permits, because the method is not called. */
  refund(): Promise<void>;
  /** Releases held permits, because the call has ended. */
  release(): Promise<void>;
}

/** Takes the permits of a call. Rejects if the call is denied. */
export interface Admit {
  (self: unknown, args: readonly unknown[], wrapper: Method): Promise<Permits>;
  /** Creates the limiter of an object's calls before the first one. Of a rule there is none. @throws TypeError, LimiterClosedError */
  prepare?(self: unknown, wrapper: Method): void;
}

export interface MethodLimit {
  /** `@CountLimit` */
  readonly decorator: string;
  /** The decorator and its prefix, or its rule: unique on a method. */
  readonly name: string;
  /** Is the method decorated, or its class? */
  readonly level: 'method' | 'class';
  readonly admit: Admit;
}

interface Wrapped {
  readonly method: Method;
  readonly limit: MethodLimit;
}

const wrapped = sharedByCopies('decorators.wrapped', () => new WeakMap<Method, Wrapped>());

/**
 * Wraps a method: each call first takes the permits of `limit`, then those of the limits that `method` already has, from the outside
 * in, all or nothing. The wrapper has the original's name, length, own properties and metadata, because frameworks read them.
 * @throws TypeError if the method already has that limit
 */
export function wrapMethod(method: Method, limit: MethodLimit): Method {
  const limits = limitsOf(method);
  if (limits.some(({ name }) => name === limit.name)) {
    throw new TypeError(
      `${limit.name} twice on one method would share one count: omit one of them, or pass a different prefix to one of them`,
    );
  }
  const all = [limit, ...limits];
  const original = originalOf(method);
  const wrapper: Method = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
    const permits = await admitted(all, this, args, wrapper);
    try {
      const result = Reflect.apply(original, this, args);
      if (limit.level === 'method') checkAsync(limit, method, result);
      return await result;
    } finally {
      // A store that is out does not change the call's result: the leases expire.
      await Promise.allSettled(permits.map((each) => each.release()));
    }
  };
  Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(method));
  copyMetadata(method, wrapper);
  wrapped.set(wrapper, { method, limit });
  return wrapper;
}

/** On a class, methods that are not async are limited on purpose: `@SkipLimit()` leaves them out. */
function checkAsync({ decorator }: MethodLimit, { name }: Method, result: unknown): void {
  if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') return;
  warnOnce(
    'SLUICE_SYNC_METHOD',
    name,
    `${decorator} on ${name}: a limited method must be async, and ${name} is not. It returns a Promise now, so its callers have to await it`,
  );
}

/** Takes the permits of one limit after the other. If one denies, refunds the permits of the others and rejects. */
async function admitted(
  limits: readonly MethodLimit[],
  self: unknown,
  args: readonly unknown[],
  wrapper: Method,
): Promise<Permits[]> {
  const permits: Permits[] = [];
  try {
    for (const { admit } of limits) permits.push(await admit(self, args, wrapper));
    return permits;
  } catch (error) {
    // If the store is out, they stay spent: then too few calls can pass, but never too many.
    await Promise.allSettled(permits.map((each) => each.refund()));
    throw withResponseHeaders(error);
  }
}

/** The limits of a method, from the outside in. */
export function limitsOf(method: Method): MethodLimit[] {
  const limits: MethodLimit[] = [];
  for (let inner = wrapped.get(method); inner; inner = wrapped.get(inner.method)) {
    limits.push(inner.limit);
  }
  return limits;
}

/** Is a function `wrapper`, or one of our wrappers around it? */
export function wraps(outer: unknown, wrapper: Method): boolean {
  let method = outer as Method | undefined;
  while (method !== undefined && method !== wrapper) method = wrapped.get(method)?.method;
  return method !== undefined;
}

/** The method inside all of our wrappers. Its parameters have the names from the source. */
export function originalOf(method: Method): Method {
  let original = method;
  for (let inner = wrapped.get(original); inner !== undefined; inner = wrapped.get(original)) {
    original = inner.method;
  }
  return original;
}

/** The functions that reflect-metadata adds to `Reflect`. Not imported: if it is not loaded, there is no metadata to copy. */
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
