import Libsql from 'libsql';
import pg from 'pg';
import { RateLimiterPostgres, RateLimiterRedis, RateLimiterSQLite } from 'rate-limiter-flexible';

const WEEK_S = 7 * 86_400;

const ours = (stores, store, limit, prefix) => {
  const limiter = new stores.RateLimiter({
    name: 'bench',
    keyPrefix: prefix,
    policy: stores.fixedWindow({ limit, window: '7d' }),
    store,
    deadline: '30s',
  });
  return (key) =>
    limiter.consume(key).then(({ allowed, degraded, source }) => {
      if (degraded) throw new Error(`not decided by the store but by ${source}`);
      return allowed;
    });
};

/** It rejects with its answer if it denies, and with an Error if the call failed. */
const theirs = (limiter) => (key) =>
  limiter.consume(key).then(
    () => true,
    (answer) => {
      if (answer instanceof Error) throw answer;
      return false;
    },
  );

/** A limiter of theirs creates its table when it is made, and says so by a callback. */
const made = (Limiter, options) =>
  new Promise((resolve, reject) => {
    const limiter = new Limiter(options, (error) => (error ? reject(error) : resolve(theirs(limiter))));
  });

/**
 * Sluice and rate-limiter-flexible on each store.
 * @param stores our packages
 * @param places `folder` for files, the URLs `postgres` and `redis`, `redisClient()`, and `closing`, to which what must be closed is added
 */
export function databaseContenders(stores, { folder, postgres, redis, redisClient, closing }) {
  const kept = (store, close = () => store.close()) => {
    closing.push(close);
    return store;
  };
  return [
    {
      id: 'sqlite',
      name: 'Sluice, SQLite',
      create: (limit, prefix) =>
        ours(stores, kept(stores.sqliteStore(`${folder}/${prefix}.db`)), limit, prefix),
    },
    {
      id: 'flexible-sqlite',
      name: 'rate-limiter-flexible, SQLite',
      create: (points, prefix) => {
        const storeClient = new Libsql(`${folder}/${prefix}-flexible.db`);
        // As ours, and as its owner should: its own default waits for the disk at each call.
        storeClient.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
        kept(storeClient);
        const options = { storeClient, storeType: 'better-sqlite3', tableName: 'flexible' };
        return made(RateLimiterSQLite, { points, duration: WEEK_S, keyPrefix: prefix, ...options });
      },
    },
    {
      id: 'postgres',
      name: 'Sluice, Postgres',
      create: (limit, prefix) =>
        ours(stores, kept(stores.postgresStore({ url: postgres, table: `sluice_${prefix}` })), limit, prefix),
    },
    {
      id: 'flexible-postgres',
      name: 'rate-limiter-flexible, Postgres',
      create: (points, prefix) => {
        const storeClient = new pg.Pool({ connectionString: postgres, max: 4 });
        kept(storeClient, () => storeClient.end());
        const options = { storeClient, tableName: `flexible_${prefix}` };
        return made(RateLimiterPostgres, { points, duration: WEEK_S, keyPrefix: prefix, ...options });
      },
    },
    {
      id: 'redis',
      name: 'Sluice, Redis',
      create: (limit, prefix) => ours(stores, kept(stores.redisStore(redis)), limit, prefix),
    },
    {
      id: 'flexible-redis',
      name: 'rate-limiter-flexible, Redis',
      create: (points, prefix) =>
        theirs(
          new RateLimiterRedis({ points, duration: WEEK_S, keyPrefix: prefix, storeClient: redisClient() }),
        ),
    },
  ];
}
