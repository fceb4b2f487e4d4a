import { checkFunction, describe, noEffect } from '@sluice/core/internal';

/** @throws TypeError if `handler` is not a function, or if an option has no effect with it */
export function checkHandler(
  where: string,
  handler: unknown,
  { message, throw: throws }: { readonly message?: unknown; readonly throw?: unknown },
): void {
  checkFunction(`${where}: handler`, handler);
  if (handler === undefined) return;
  const spare = message !== undefined ? 'message' : throws ? 'throw' : undefined;
  if (spare !== undefined) throw noEffect(where, spare, 'with handler, which sends the response');
}

/**
 * An error of a function in the options, as an Error. Some frameworks treat a thrown `undefined` or `'route'` as no error, and would let the
 * request pass or never answer it.
 */
export function asError(where: string, error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error(`${where}: an option threw ${describe(error)}`, { cause: error });
}

/** A copy of the options that are set, own or inherited. */
export function pick<T, K extends keyof T>(from: T, names: readonly K[]): Partial<Pick<T, K>> {
  const given = names.filter((name) => from[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, from[name]])) as Partial<Pick<T, K>>;
}
