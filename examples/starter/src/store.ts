import { memoryStore, type RedisStore, redisStore } from '@sluice/core';
import { type PostgresStore, postgresStore } from '@sluice/postgres';
import { type SqliteStore, sqliteStore } from '@sluice/sqlite';

const SHARED = 'start a second one with another PORT, and both share limits';

/**
 * The store that the environment names: `STORE` is `memory`, `sqlite:FILE`, `postgres://…` or `redis://…`; without it `REDIS_URL`, and then memory.
 * @throws TypeError for another address
 */
export function openStore({ STORE, REDIS_URL }: NodeJS.ProcessEnv) {
  const address = STORE || REDIS_URL || 'memory';
  // Counts the keys that are denied most, for the live page. Keys of the demo are no secrets.
  const options = { usage: { keys: 'plain' }, denials: true } as const;
  const [scheme, rest = ''] = address.split(/:(.*)/s);
  switch (scheme) {
    case 'memory':
      return { store: memoryStore({ usage: options.usage }), where: 'in memory' };
    case 'sqlite':
      return {
        store: watched('The file', sqliteStore({ file: rest, ...options })),
        where: `in the file ${rest}: ${SHARED}`,
      };
    case 'postgres':
    case 'postgresql':
      return {
        store: watched('Postgres', postgresStore({ url: address, ...options })),
        where: `in Postgres: ${SHARED}`,
      };
    default:
      return {
        store: watched('Redis', redisStore({ url: address, ...options })),
        where: `in Redis: ${SHARED}`,
      };
  }
}

/**
 * Logs when the store is lost and when it is back. In between each process counts for itself. Connects now, so that the live page lists the limits
 * before the first request.
 */
function watched<S extends RedisStore | PostgresStore | SqliteStore>(name: string, store: S): S {
  store.on('degraded', ({ error }) =>
    console.log(`${name} is out, and this process counts for itself: ${error.message}`),
  );
  store.on('recovered', ({ after }) => console.log(`${name} decides again, after ${after} ms`));
  store.connect().catch((error: Error) => console.log(`${name} does not answer yet: ${error.message}`));
  return store;
}
