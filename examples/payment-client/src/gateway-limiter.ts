import {
  type Duration,
  memoryStore,
  RateLimiter,
  recommendedRedisOptions,
  redisStore,
  type Store,
  type StoreFailure,
  slidingLog,
} from '@sluice/core';
import { Redis } from 'ioredis';

/** The calls that the gateway takes in any second. */
export const LIMIT = 5;

/** Payments may wait for a slow Redis. If Redis refuses the connection, they fail at once. */
const TIMEOUT_MS = 30_000;

/**
 * `slidingLog` holds in any second: it has no window edges where two bursts could meet.
 * @param margin how much later than its permits are back a waiting call passes
 */
export function gatewayLimiter(
  store: Store,
  window: Duration,
  { name = 'payment-gateway', margin }: { name?: string; margin?: Duration | undefined } = {},
): RateLimiter {
  const policy = slidingLog({ limit: LIMIT, window });
  return new RateLimiter({ name, policy, store, margin, deadline: TIMEOUT_MS, failurePolicy: rejectCall });
}

/** Without Redis the calls of other processes are unknown. No payment is better than one too many. */
const rejectCall = ({ error }: StoreFailure): never => {
  throw error;
};

/** The Redis at this address, or the memory of this process. */
export function openStore(redisUrl: string | undefined): { store: Store; close(): Promise<void> } {
  if (!redisUrl) {
    const store = memoryStore();
    return { store, close: () => store.close() };
  }
  const client = new Redis(redisUrl, {
    ...recommendedRedisOptions,
    connectTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disconnectTimeout: 0,
  });
  client.on('error', () => undefined); // each call rejects with its own error
  const store = redisStore(client);
  store.on('degraded', () => undefined); // turns the warning off: rejectCall reports outages
  return {
    store,
    async close() {
      await store.close();
      client.disconnect();
    },
  };
}
