import { type RedisServer, startRedis } from './redis-server.ts';

// Node itself loads this file and its imports. Jest transforms them but does not resolve imports, hence `.ts` in them.

declare global {
  var sluiceSharedRedis: RedisServer | undefined;
}

/** One Redis for the whole run, at REDIS_URL or our own. It is shared: a test keeps to keys that it made unique. */
export default async function setup(): Promise<void> {
  const given = process.env.REDIS_URL;
  if (given !== undefined && given !== '') {
    process.env.SLUICE_TEST_REDIS_URL = given;
    return;
  }
  globalThis.sluiceSharedRedis = await startRedis();
  process.env.SLUICE_TEST_REDIS_URL = globalThis.sluiceSharedRedis.url;
}
