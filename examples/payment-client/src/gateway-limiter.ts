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

/** What the gateway takes in any second. */
export const LIMIT = 5;

/** Payments are in no hurry: they rather wait for a slow Redis than fail. One that is not there fails at once. */
const PATIENCE_MS = 30_000;

/** The log is the policy for "in any second": it knows no edges that two bursts could meet at. */
export function gatewayLimiter(store: Store, window: Duration, name = 'payment-gateway'): RateLimiter {
  const policy = slidingLog({ limit: LIMIT, window });
  return new RateLimiter({ name, policy, store, deadline: PATIENCE_MS, failurePolicy: tellCaller });
}

/** Without Redis nobody knows what the others send: rather no payment than one too many. */
const tellCaller = ({ error }: StoreFailure): never => {
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
    connectTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
    disconnectTimeout: 0,
  });
  client.on('error', () => undefined); // each call tells
  const store = redisStore(client);
  store.on('degraded', () => undefined); // turns the warning off: here nothing is decided without Redis
  return {
    store,
    async close() {
      await store.close();
      client.disconnect();
    },
  };
}
