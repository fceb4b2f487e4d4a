import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { Redis } from 'ioredis';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The Redis of REDIS_URL, or a new one. */
export async function benchRedis() {
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, stop: async () => {} };
  const { startRedis } = await testSupport('redis-server');
  return startRedis();
}

/** Starts a Redis Cluster of three masters. */
export async function benchCluster() {
  const { startRedisCluster } = await testSupport('redis-cluster');
  return startRedisCluster();
}

/** A module of tests/support/redis: the bench gets its servers as the tests do. */
async function testSupport(name) {
  const folder = join(root, 'node_modules/.cache/sluice-bench');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${name}-${process.pid}.mjs`);
  const source = join(root, 'tests/support/redis');
  await build({
    entryPoints: [join(source, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    define: { __dirname: JSON.stringify(source) },
    logLevel: 'error',
  });
  const module = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  return module;
}

/** Reads Redis's own statistics, over a connection that no contender uses. */
export function inspector(url) {
  const client = new Redis(url);
  const field = async (section, name) => {
    const text = await client.info(section);
    return Number(new RegExp(`^${name}:(.*)$`, 'm').exec(text)[1]);
  };
  return {
    version: async () => /redis_version:(\S+)/.exec(await client.info('server'))[1],
    /** µs of CPU that Redis has used since it started. */
    cpu: async () => 1e6 * ((await field('cpu', 'used_cpu_user')) + (await field('cpu', 'used_cpu_sys'))),
    memory: () => field('memory', 'used_memory'),
    deleteKeys: async (pattern) => {
      for await (const keys of client.scanStream({ match: pattern, count: 1000 })) {
        if (keys.length > 0) await client.unlink(keys);
      }
    },
    close: () => client.disconnect(),
  };
}
