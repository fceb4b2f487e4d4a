import { describe } from '../options.js';

/** @throws TypeError naming the option when something was given that is not a function */
export function checkFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') {
    throw new TypeError(`${what} must be a function, not ${describe(value)}`);
  }
}
