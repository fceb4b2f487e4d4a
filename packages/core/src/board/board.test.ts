import { Redis } from 'ioredis';
import { fleetBoardContract, textsOf, use } from '../../../../tests/contracts/store/fleet-board.suite.js';
import { eventually } from '../../../../tests/support/eventually.js';
import { startRedis } from '../../../../tests/support/redis/redis-server.js';
import { redisUrl } from '../../../../tests/support/redis-url.js';
import { ManualClock } from '../clock.js';
import { fixedWindow, memoryStore, RateLimiter, redisStore } from '../index.js';

describe('Redis', () => {
  fleetBoardContract(() => redisStore(redisUrl()));

  test('keys expire, and the index drops a process whose text has expired', async () => {
    const server = await startRedis();
    const admin = new Redis(server.url);
    const stores = [redisStore(server.url), redisStore(server.url)] as const;
    try {
      for (const store of stores) await use(store);
      await stores[0].fleet.publish('usage', 'a', 30_000);
      const [index, key] = [
        'sluice:v2:fleet:usage:{index}',
        `sluice:v2:fleet:usage:{${stores[0].fleet.process}}`,
      ];
      for (const one of [index, key]) expect(await admin.pttl(one)).toBeGreaterThan(20_000);
      await admin.zadd(index, String(Date.now() - 31_000), 'long-gone');
      await stores[1].fleet.publish('usage', 'b', 30_000);
      expect((await admin.zrange(index, '0', '-1')).sort()).toEqual(
        stores.map(({ fleet }) => fleet.process).sort(),
      );
    } finally {
      for (const store of stores) await store.close();
      admin.disconnect();
      await server.stop();
    }
  });

  test.each([
    ['a call failed', true],
    ['no call noticed', false],
  ])(
    'limiters are published again soon after the server came back empty, if %s meanwhile',
    async (_, calls) => {
      const server = await startRedis();
      const store = redisStore(server.url);
      const limiter = new RateLimiter({
        name: 'login',
        policy: fixedWindow({ limit: 5, window: '1m' }),
        store,
      });
      const isPublished = async () => {
        const notes = await store.fleet.read('definitions').catch(() => []);
        return notes.some(({ text }) => text.includes('"login"'));
      };
      try {
        await limiter.consume('ann');
        await eventually(isPublished);
        await server.kill();
        if (calls) expect((await limiter.consume('ann')).degraded).toBe(true);
        await server.restart();
        await eventually(isPublished);
      } finally {
        await limiter.close();
        await store.close();
        await server.stop();
      }
    },
  );

  test('a foreign value is omitted with a note, and not transferred if it is large; other texts are read', async () => {
    const server = await startRedis();
    const admin = new Redis(server.url);
    const store = redisStore(server.url);
    const [index, keyOf] = [
      'sluice:v2:fleet:usage:{index}',
      (name: string) => `sluice:v2:fleet:usage:{${name}}`,
    ];
    const read = async () => {
      const notes = await store.fleet.read('usage');
      return Object.fromEntries(notes.map(({ process, text, problem = text }) => [process, problem]));
    };
    try {
      await use(store);
      await store.fleet.publish('usage', 'ours', 60_000);
      await admin.set(keyOf('long'), 'x'.repeat(1_000_001));
      await admin.set(keyOf('whole'), 'x'.repeat(1_000_000));
      await admin.lpush(keyOf('list'), 'x');
      const names = ['long', 'whole', 'list', 'missing', 'a}b\n', 'n'.repeat(100_000)];
      for (const name of names) await admin.zadd(index, Date.now(), name);
      await admin.zadd(index, '-inf', 'before-all');
      await admin.zadd(index, '+inf', 'after-all');
      await admin.set(keyOf('after-all'), 'after all');
      expect(await read()).toEqual({
        [store.fleet.process]: 'ours',
        whole: 'x'.repeat(1_000_000),
        'after-all': 'after all',
        long: 'it has 1000001 bytes',
        list: 'its key has a value of another type',
        'a}b\n': 'its entry in the index cannot be read',
        ['n'.repeat(65)]: 'its entry in the index cannot be read',
        'before-all': 'its entry in the index cannot be read',
      });
      await admin.zadd(index, ...Array.from({ length: 10_000 }, (_, i) => [i, `p${i}`]).flat());
      expect((await read()).index).toBe('it has more than 10000 processes');
      await admin.del(index);
      await admin.set(index, 'a text');
      expect(await read()).toEqual({ index: 'its key has a value of another type' });
    } finally {
      await store.close();
      admin.disconnect();
      await server.stop();
    }
  });

  test('nothing is queued for a server that is out, and publish resolves to false', async () => {
    const server = await startRedis();
    const store = redisStore(server.url);
    try {
      await use(store);
      await server.kill();
      expect(await store.fleet.publish('usage', 'while out', 60_000)).toBe(false);
      await server.restart();
      await store.connect();
      expect(await textsOf(store, store)).toEqual([]);
      expect(await store.fleet.publish('usage', 'again', 60_000)).toBe(true);
      expect((await textsOf(store, store)).map(({ text }) => text)).toEqual(['again']);
    } finally {
      await store.close();
      await server.stop();
    }
  });

  test('a server that refuses publish is called once, and a warning names the remedy', async () => {
    const server = await startRedis();
    const admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'old', 'on', '>pw', '~*', '&*', '+@all', '-zadd');
    const store = redisStore(server.url.replace('//', '//old:pw@'));
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation();
    try {
      await use(store);
      for (let i = 0; i < 3; i += 1) expect(await store.fleet.publish('usage', 'text', 60_000)).toBe(false);
      expect(await admin.call('ACL', 'LOG')).toHaveLength(1);
      expect(emitWarning.mock.calls).toEqual([
        [
          expect.stringMatching(/docs\/operations\.md.*definitions: false, usage: false/),
          expect.objectContaining({ code: 'SLUICE_FLEET_REFUSED' }),
        ],
      ]);
    } finally {
      emitWarning.mockRestore();
      await store.close();
      admin.disconnect();
      await server.stop();
    }
  });
});

test("a memory store's board holds only the texts of its own process", async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  expect(await store.fleet.read('usage')).toEqual([]);
  expect(await store.fleet.publish('usage', 'text', 1_000)).toBe(true);
  await clock.advance('999ms');
  expect(await store.fleet.read('usage')).toEqual([{ process: store.fleet.process, age: 999, text: 'text' }]);
  expect(await store.fleet.read('definitions')).toEqual([]);
  await clock.advance('1ms');
  expect(await store.fleet.read('usage')).toEqual([]);
  await store.close();
  expect(await store.fleet.publish('usage', 'text', 1_000)).toBe(false);
});
