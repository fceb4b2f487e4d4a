import { describe } from '../options.js';

/** @throws TypeError naming the option when something was given that is not a function */
export function checkFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') {
    throw new TypeError(`${what} must be a function, not ${describe(value)}`);
  }
}

/** @throws TypeError when a handler is given that is no function, or something beside it that would have no effect */
export function checkHandler(
  where: string,
  handler: unknown,
  { message, throw: throws }: { readonly message?: unknown; readonly throw?: unknown },
): void {
  checkFunction(`${where}: handler`, handler);
  if (handler === undefined) return;
  const spare = message !== undefined ? 'message' : throws ? 'throw' : undefined;
  if (spare !== undefined)
    throw new TypeError(`${where}: ${spare} has no effect with handler, which answers`);
}
