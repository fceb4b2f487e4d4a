import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import {
  fixedWindow,
  RateLimiter,
  type RateLimiterOptions,
  type Store,
} from '../../../packages/core/src/index.js';
import { type PostgresStoreOptions, postgresStore } from '../../../packages/postgres/src/index.js';
import { limitOf } from '../../support/limit-of.js';
import { type PostgresOptions, type PostgresServer, startPostgres } from '../../support/postgres/index.js';

/** What the tests of a file have opened. It is closed after each test. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

export function closeLater(close: () => unknown): void {
  opened.push(close);
}

/** A Postgres for one test. */
export async function ownPostgres(options?: PostgresOptions): Promise<PostgresServer> {
  const postgres = await startPostgres(options);
  closeLater(() => postgres.stop());
  return postgres;
}

/** A store, which expects outages. */
export function storeAt(options: string | PostgresStoreOptions): ReturnType<typeof postgresStore> {
  const store = postgresStore(options).on('degraded', () => {});
  closeLater(() => store.close());
  return store;
}

/** A limiter of `limit` permits a day. */
export function limiterOf(
  store: Store,
  limit: number,
  options: Partial<RateLimiterOptions> = {},
): RateLimiter {
  const policy = fixedWindow({ limit, window: '24h' });
  const limiter = new RateLimiter({
    name: 'limits',
    policy,
    store,
    deadline: '10s',
    ...options,
  } as RateLimiterOptions);
  closeLater(() => limiter.close());
  return limiter;
}

/** A call of the store itself, which rejects where a limiter would use its failure policy. */
export const takeOf = (store: Store, limit: number, key: string) => {
  const part = { limit: limitOf(compilePolicy(fixedWindow({ limit, window: '24h' }))), key, cost: 1, at: 0 };
  return () => store.decide({ operation: 'consume', wait: 0, parts: [part] });
};

/** How many of the permits of a key are taken. */
export async function takenOf(store: Store, limit: number, key: string): Promise<number> {
  const part = { limit: limitOf(compilePolicy(fixedWindow({ limit, window: '24h' }))), key, cost: 1, at: 0 };
  const { parts } = await store.decide({ operation: 'peek', wait: 0, parts: [part] });
  return limit - parts[0]!.remaining;
}
