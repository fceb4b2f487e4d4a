import { writeFile } from 'node:fs/promises';
import { readUsage } from '@sluice/fleet';
import { hashKey, redisStore } from '../../../packages/core/src/index.js';
import { bundle } from '../../support/bundle.js';
import { eventually } from '../../support/eventually.js';
import { startRedisCluster } from '../../support/redis/redis-cluster.js';
import { startRedis } from '../../support/redis/redis-server.js';
import { run } from '../../support/run.js';
import type { Work } from './program.js';

jest.setTimeout(90_000);

const KEYS = ['ann', 'line\nbreak', '\u001b[31mred', 'x'.repeat(1_000_000)];

let program: Awaited<ReturnType<typeof bundle>>;
const opened: { close(): unknown }[] = [];
beforeAll(async () => {
  program = await bundle(require.resolve('./program.ts'));
});
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});
afterAll(() => program.remove());

async function oneServer(): Promise<string[]> {
  const server = await startRedis();
  opened.push({ close: () => server.stop() });
  return [server.url];
}

async function cluster(): Promise<string[]> {
  const servers = await startRedisCluster();
  opened.push({ close: () => servers.stop() });
  return servers.addresses.map(({ host, port }) => `redis://${host}:${port}`);
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

test.each([
  ['one server', oneServer],
  ['a cluster', cluster],
])('reads the sums of the counts of two processes: %s', async (_, start) => {
  const urls = await start();
  const work = async (calls: Work['calls'], keys: Work['keys']) => {
    const file = `${program.file}.${keys}.json`;
    await writeFile(file, JSON.stringify({ urls, limiter: 'api', keys, calls } satisfies Work));
    return run(process.execPath, [program.file, file]);
  };
  const finished = Promise.all([
    work(
      KEYS.map((key, i) => [key, 5 - i]),
      'plain',
    ),
    work([['ann', 10]], 'hash'),
  ]);
  const reader = redisStore(urls.length > 1 ? { cluster: urls } : { url: urls[0]! });
  opened.push(reader);
  const usage = await eventually(async () => {
    const read = await readUsage(reader);
    return read.processes.length === 2 && read;
  });
  expect(await finished).toEqual([
    { ok: true, output: 'called\n' },
    { ok: true, output: 'called\n' },
  ]);
  expect(usage).toMatchObject({ refused: [], keys: 'hash' });
  const [api, all, both] = usage.limiters;
  expect(usage.limiters.map(({ limiter }) => limiter)).toEqual(['api', 'api-all', 'api-both']);
  // Digests and plain keys are the same keys; both members count a call that one of them denied.
  const used = (keys: number) => ({
    keys,
    error: 0,
    policies: [{ policy: undefined, keys, use: { p50: 1, p90: 1, p99: 1, max: 1 } }],
  });
  expect([api!.keyUse, both!.keyUse]).toEqual([used(4), undefined]);
  expect(all!.keyUse).toMatchObject({ keys: 1, error: 0 });
  expect(api!.denied).toEqual([
    { key: hashKey('ann'), count: 14, error: 0 },
    { key: hashKey(KEYS[1]!), count: 3, error: 0 },
    { key: hashKey(KEYS[2]!), count: 2, error: 0 },
    { key: hashKey(KEYS[3]!), count: 1, error: 0 },
  ]);
  expect(sum(api!.decisions.denied)).toBe(22); // with the two calls of the combination, whose keys are there
  expect(sum(api!.decisions.allowed)).toBe(4);
  expect(both!.denied).toEqual([{ scope: 'user', key: hashKey('ann'), count: 2, error: 0 }]);
  const again = await readUsage(reader); // both processes have ended
  expect(again.limiters.map(({ denied }) => denied)).toEqual(usage.limiters.map(({ denied }) => denied));
});
