/** `#platform` without Node.js: edge runtimes and browsers. Only what the web's standards have. */
import createNegotiator from 'negotiator';
import type * as Node from './node.js';

export const cluster: Pick<typeof Node.cluster, 'isWorker'> = { isWorker: false };
export const hasBackground: boolean = false;
export const negotiator = () => createNegotiator;

/** Keeps nothing: a runtime without it has no current request. */
class NoContext {
  run<T>(_value: unknown, work: () => T): T {
    return work();
  }

  enterWith(): void {}

  getStore(): undefined {}
}

export const AsyncLocalStorage = ((globalThis as { AsyncLocalStorage?: unknown }).AsyncLocalStorage ??
  NoContext) as typeof Node.AsyncLocalStorage;

/** Titles of the usual answers to a refused request. */
export const STATUS_CODES: typeof Node.STATUS_CODES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  413: 'Payload Too Large',
  420: 'Enhance Your Calm',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** Only adapters of Node's own servers use it. */
export const finished = undefined as never as typeof Node.finished;
