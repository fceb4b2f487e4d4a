/**
 * Everything that this package takes from Node.js. It is imported as `#platform`: package.json chooses this file where the condition `node`
 * holds, and web.ts elsewhere. No other file here imports a module of Node.js.
 */
import cluster from 'node:cluster';
import lazy from '../lazy.cjs';

export { AsyncLocalStorage } from 'node:async_hooks';
export { STATUS_CODES } from 'node:http';
export { finished } from 'node:stream';

export { cluster };

/** May code run between requests? An edge runtime ends a timer with the request that started it. */
export const hasBackground: boolean = true;

/** Few programs answer a client that has to choose a form, so the package loads when it is first used. */
export const { negotiator } = lazy;
