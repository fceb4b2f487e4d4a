import { sharedByCopies } from './shared.js';

export type Method = (this: unknown, ...args: never[]) => unknown;

/** What a call took of one limit. */
export interface Permits {
  /** Gives back all of it, because the call does not go after all. */
  refund(): Promise<void>;
  /** Ends the holding of what is held and not spent, because the call is over. */
  release(): Promise<void>;
}

/** Lets a call go by resolving, or refuses it by rejecting. */
export type Admit = (self: unknown, args: readonly unknown[], wrapper: Method) => Promise<Permits>;

/** One limit of a method. */
export interface MethodLimit {
  /** `@CountLimit` */
  readonly decorator: string;
  /** Tells apart the limits of one method, each of which counts by itself: the decorator and its prefix. */
  readonly name: string;
  /** Does it stand on the method itself, or is it one of its class? */
  readonly level: 'method' | 'class';
  readonly admit: Admit;
}

interface Wrapped {
  readonly method: Method;
  readonly limit: MethodLimit;
}

/** From each of our wrappers to what it wraps. */
const wrapped = sharedByCopies('wrapped', () => new WeakMap<Method, Wrapped>());

/**
 * A method that asks `limit.admit` before each call of `method`; limits that `method` has already are asked after it, in their
 * order from the outside in, and a call takes from all of them or from none. It has the original's name, length, own properties
 * and metadata, because frameworks find what they know of a method by them.
 * @throws TypeError when the method has that limit already
 */
export function wrapMethod(method: Method, limit: MethodLimit): Method {
  const limits = limitsOf(method);
  if (limits.some(({ name }) => name === limit.name)) {
    throw new TypeError(
      `${limit.name} twice on one method would count in one place: give one of them a prefix of its own`,
    );
  }
  const all = [limit, ...limits];
  const original = originalOf(method);
  const wrapper: Method = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
    const permits = await admitted(all, this, args, wrapper);
    try {
      return await Reflect.apply(original, this, args);
    } finally {
      // What the call came to is not lost because the store is out: what it held ends with its lease then.
      await Promise.allSettled(permits.map((each) => each.release()));
    }
  };
  Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(method));
  copyMetadata(method, wrapper);
  wrapped.set(wrapper, { method, limit });
  return wrapper;
}

/** Asks one limit after the other. @throws what the first of them says that refuses, with all given back that others gave */
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
    // Should the store be out, they stay spent: too few calls may go then, never too many.
    await Promise.allSettled(permits.map((each) => each.refund()));
    throw error;
  }
}

/** The limits that our wrappers around a method stand for, from the outside in. */
export function limitsOf(method: Method): MethodLimit[] {
  const limits: MethodLimit[] = [];
  for (let inner = wrapped.get(method); inner; inner = wrapped.get(inner.method)) {
    limits.push(inner.limit);
  }
  return limits;
}

/** Whether a function is `wrapper`, or one of our wrappers around it. */
export function wraps(outer: unknown, wrapper: Method): boolean {
  let method = outer as Method | undefined;
  while (method !== undefined && method !== wrapper) method = wrapped.get(method)?.method;
  return method !== undefined;
}

/** The method inside all of our wrappers: the one whose parameters have the names that its author gave them. */
export function originalOf(method: Method): Method {
  let original = method;
  for (let inner = wrapped.get(original); inner !== undefined; inner = wrapped.get(original)) {
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
