import { describe } from '../options.js';

/**
 * Whatever an option throws arrives as an Error: Express takes `undefined` and `'route'` for "go on", and the request would
 * pass unlimited; Koa never answers then.
 */
export function asError(where: string, error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error(`${where}: an option threw ${describe(error)}`, { cause: error });
}
