import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reapWithUs } from '../child.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

// Node itself loads this file and its imports. Jest transforms them but does not resolve imports, hence `.ts` in them.

declare global {
  var sluiceSharedRedis: RedisServer | undefined;
}

/**
 * Starts one Redis for the whole run, or takes that at REDIS_URL. It is shared: a test keeps to keys that it made unique. Makes a folder for
 * the bundles of the run (`../bundle.ts`), which is removed when this process ends.
 */
export default async function setup(): Promise<void> {
  process.env.SLUICE_TEST_BUNDLES = await mkdtemp(join(tmpdir(), 'sluice-bundles-'));
  reapWithUs('rm -rf "$1"', [process.env.SLUICE_TEST_BUNDLES]);
  const given = process.env.REDIS_URL;
  if (given !== undefined && given !== '') {
    process.env.SLUICE_TEST_REDIS_URL = given;
    return;
  }
  globalThis.sluiceSharedRedis = await startRedis();
  process.env.SLUICE_TEST_REDIS_URL = globalThis.sluiceSharedRedis.url;
}
