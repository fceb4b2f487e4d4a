import { fixedWindow, RateLimiter, redisStore } from '../../../packages/core/src/index.js';
import { rethrow } from '../../support/rethrow.js';

/** The work of a process of the fleet. */
export interface Work {
  /** The address of one server, or of the nodes of a cluster. */
  readonly urls: readonly string[];
  readonly limiter: string;
  readonly keys: readonly string[];
}

/** The denial that blocks. */
export const AFTER = 7;

/** With permits that do not come back, and every call sent to Redis. */
export const open = ({ urls, limiter: name }: Work) => {
  const store = redisStore(urls.length > 1 ? { cluster: urls } : { url: urls[0]! });
  const limiter = new RateLimiter({
    name,
    policy: fixedWindow({ limit: 1, window: '30d' }),
    store,
    deadline: '20s',
    denyCache: false,
    failurePolicy: rethrow,
    escalate: { after: AFTER, within: '1h', block: ['1h', '2h', '3h'], forgive: '5d' },
  });
  return { limiter, close: () => limiter.close().then(() => store.close()) };
};
