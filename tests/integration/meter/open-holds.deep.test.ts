import { join } from 'node:path';
import { Redis } from 'ioredis';
import { fixedWindow, redisStore } from '../../../packages/core/src/index.js';
import { meter } from '../../../packages/meter/src/index.js';
import { bundle } from '../../support/bundle.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { run } from '../../support/run.js';

// Open holds cost memory until they expire, and a call reads no more keys with them. A million were measured in memory with the same code.

const COUNT = 20_000;
const axes = { usd: fixedWindow({ limit: 1e12, window: '1h' }) };

test('open holds in memory take at most 600 bytes each, and nothing after they have expired', async () => {
  const { file, remove } = await bundle(join(__dirname, 'holds-in-memory.ts'));
  const { ok, output } = await run(process.execPath, ['--expose-gc', file, String(COUNT)], {
    timeoutMs: 110_000,
  }).finally(remove);
  if (!ok) throw new Error(output);
  const { size, bytes, lines, expired } = JSON.parse(output);
  expect(size).toBeGreaterThan(COUNT);
  expect(bytes).toBeLessThan(600);
  expect(lines).toMatchObject([{ used: 0, held: 10 * COUNT, left: 1e12 - 10 * COUNT }]);
  expect(expired).toEqual({ size: 0, left: { usd: 1e12 } });
}, 120_000);

describe('open holds in Redis', () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  }, 60_000);
  afterEach(() => client.flushall());
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });

  const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))![1]);
  const holdMany = async (ttl: string, count: number) => {
    const store = redisStore(server.url);
    const budget = meter({
      name: `many-${ttl}`,
      store,
      axes,
      ttl,
      lapse: 'refund',
      deadline: '20s',
    } as const);
    let next = 0;
    const one = async () => {
      while (next < count) {
        next += 1;
        await budget.hold('key', { usd: 10 });
      }
    };
    await Promise.all(Array.from({ length: 200 }, one));
    return { budget, store };
  };

  test('take at most 400 bytes each, and expire two times to live after the last call', async () => {
    const before = await used();
    const { budget, store } = await holdMany('1h', COUNT);
    expect(await client.dbsize()).toBeGreaterThan(COUNT);
    expect(((await used()) - before) / COUNT).toBeLessThan(400);
    const [, keys] = await client.scan(0, 'MATCH', '*holds:*', 'COUNT', 1_000);
    expect(keys.length).toBeGreaterThan(100);
    for (const key of keys) {
      const left = await client.pttl(key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(2.125 * 3_600_000);
    }
    await budget.close();
    await store.close();
  }, 120_000);

  test('leave nothing but what was used', async () => {
    const { budget, store } = await holdMany('1s', 3_000);
    await eventually(
      async () => (await client.scan(0, 'MATCH', '*holds:*', 'COUNT', 10_000))[1].length === 0,
    );
    expect((await budget.status('key')).left).toEqual({ usd: 1e12 });
    await budget.close();
    await store.close();
  }, 60_000);
});
