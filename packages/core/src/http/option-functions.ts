import { checkFunction, describe, noEffect } from '../options.js';

/** @throws TypeError if a handler is not a function, or another option has no effect beside it */
export function checkHandler(
  where: string,
  handler: unknown,
  { message, throw: throws }: { readonly message?: unknown; readonly throw?: unknown },
): void {
  checkFunction(`${where}: handler`, handler);
  if (handler === undefined) return;
  const spare = message !== undefined ? 'message' : throws ? 'throw' : undefined;
  if (spare !== undefined) throw noEffect(where, spare, 'with handler, which answers');
}

/**
 * What a function in the options threw, as an Error. Express treats `undefined` and `'route'` as no error, so the request would pass
 * unlimited; Koa would never answer.
 */
export function asError(where: string, error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error(`${where}: an option threw ${describe(error)}`, { cause: error });
}

/** A copy of these options, as far as they are set: own or inherited. */
export const pick = <T extends object, K extends keyof T>(
  from: T,
  names: readonly K[],
): Partial<Pick<T, K>> =>
  Object.fromEntries(
    names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  ) as Partial<Pick<T, K>>;
