/** A store in memory answers at once, one in Redis later. */
export type MaybePromise<T> = T | Promise<T>;

export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> =>
  typeof (value as Partial<Promise<T>> | null | undefined)?.then === 'function';

/** Calls `go` with the value, at once unless it is a promise: a promise costs more than a decision in memory. */
export const andThen = <T, U>(value: MaybePromise<T>, go: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  isPromise(value) ? Promise.resolve(value).then(go) : go(value);
