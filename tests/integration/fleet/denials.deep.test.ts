import { setTimeout as sleep } from 'node:timers/promises';
import { type DenialReport, followDenials } from '@sluice/fleet';
import { sendDenials } from '@sluice/fleet/internal';
import { Redis } from 'ioredis';
import { fixedWindow, RateLimiter, redisStore, type Store } from '../../../packages/core/src/index.js';
import { DECISION, STORE_CALL } from '../../../packages/core/src/telemetry/channels.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { uniqueName } from '../../support/redis-url.js';
import { rethrow } from '../../support/rethrow.js';
import { OwnCluster } from '../cluster/own-cluster.js';

// The cost of followers, and outages that they survive. tests/contracts/store/fleet-board.suite.ts tests every kind of store.

const CHANNEL = 'sluice:v2:fleet:denials';

const limiterOf = (store: Store) =>
  new RateLimiter({
    name: uniqueName('denials'),
    policy: fixedWindow({ limit: 1, window: '1h' }),
    store,
    deadline: '30s',
    failurePolicy: rethrow,
  });

/** The denials of one limiter, as another process receives them. */
function following(store: Store, { name }: RateLimiter) {
  const reports: DenialReport[] = [];
  const stop = followDenials(store, {
    report: (report) => {
      if (report.denials.some(({ limiter }) => limiter === name)) reports.push(report);
    },
  });
  return { reports, stop };
}

describe('one server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  test('a process without followers checks for them regularly, and collects nothing', async () => {
    const store = redisStore({ url: server.url, denials: true });
    const admin = new Redis(server.url);
    const limiter = limiterOf(store);
    try {
      await limiter.consume('k');
      const monitor = await admin.monitor();
      const published: string[][] = [];
      monitor.on('monitor', (_time: string, args: string[]) => {
        if (args[0]!.toLowerCase() === 'publish' && args[1] === CHANNEL) published.push(args);
      });
      await eventually(async () => {
        await limiter.consume('k');
        expect([DECISION.hasSubscribers, STORE_CALL.hasSubscribers]).toEqual([false, false]);
        return published.length >= 2;
      });
      monitor.disconnect();
      for (const [, , text] of published) expect(text).toMatch(/^\d+ $/);
    } finally {
      await limiter.close();
      await store.close();
      admin.disconnect();
    }
  });

  test('reports of 100,000 denials of 20,000 keys are bounded, and a blocked reader delays no process', async () => {
    const [store, reader] = [redisStore({ url: server.url, denials: true }), redisStore(server.url)];
    const limiter = limiterOf(store);
    const { reports, stop } = following(reader, limiter);
    const [frozen, sizes] = [new Redis(server.url), new Redis(server.url)];
    const lengths: number[] = [];
    try {
      await Promise.all([frozen.subscribe(CHANNEL), sizes.subscribe(CHANNEL)]);
      frozen.stream.pause();
      sizes.on('message', (_channel, text: string) => lengths.push(text.length));
      await eventually(async () => {
        await limiter.consume('first');
        return reports.length > 0;
      });
      const keys = Array.from({ length: 20_000 }, (_, i) => `${'k'.repeat(100)}${i}`);
      await Promise.all(keys.map((key) => limiter.consume(key)));
      for (let round = 0; round < 5; round += 1) {
        const decisions = await Promise.all(keys.map((key) => limiter.consume(key)));
        expect(decisions.every(({ allowed }) => !allowed)).toBe(true);
      }
      const seen = () =>
        reports.reduce(
          (sum, { denials, omitted }) =>
            denials.reduce((own, { key, count }) => own + (key === 'first' ? 0 : count), sum) + omitted,
          0,
        );
      // Reports may be missed while the machine is busy; none is counted twice.
      await eventually(async () => seen() >= 20_000);
      expect(seen()).toBeLessThanOrEqual(100_000);
      for (const { denials } of reports) expect(denials.length).toBeLessThanOrEqual(100);
      expect(Math.max(...lengths)).toBeLessThan(64_000);
    } finally {
      stop();
      frozen.disconnect();
      sizes.disconnect();
      await limiter.close();
      await Promise.all([store.close(), reader.close()]);
    }
  }, 180_000);

  test('the reader reconnects after a lost connection', async () => {
    const [store, reader] = [redisStore({ url: server.url, denials: true }), redisStore(server.url)];
    const admin = new Redis(server.url);
    const limiter = limiterOf(store);
    const { reports, stop } = following(reader, limiter);
    try {
      for (let lost = 0; lost < 2; lost += 1) {
        const before = reports.length;
        await eventually(async () => {
          await limiter.consume('k');
          await sleep(20);
          return reports.length > before;
        });
        await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      }
      stop();
    } finally {
      stop();
      admin.disconnect();
      await limiter.close();
      await Promise.all([store.close(), reader.close()]);
    }
  });
});

describe('a cluster', () => {
  const own = new OwnCluster();

  test.each([
    ['ioredis', () => own.store()],
    ['node-redis', () => own.nodeRedisStore()],
  ])('the reader follows the moving slot of the channel: %s', async (_, open) => {
    const [store, reader] = [open(), open()];
    sendDenials(store, () => true).start();
    const limiter = own.open(limiterOf(store));
    const { reports, stop } = following(reader, limiter);
    const more = async () => {
      const before = reports.length;
      await eventually(async () => {
        await limiter.consume('k');
        await sleep(20);
        return reports.length > before;
      });
    };
    await more();
    const slot = await own.slotOf(CHANNEL);
    const owner = Math.floor((slot * own.nodes.length) / 16_384);
    const [from, to] = [own.nodes[owner]!, own.nodes[(owner + 1) % own.nodes.length]!];
    await own.move(slot, from, to);
    const subscribers = async () =>
      Number(((await to.ask('PUBSUB', 'NUMSUB', CHANNEL)) as [string, number])[1]);
    await eventually(async () => (await subscribers()) === 1);
    await more();
    stop();
    await eventually(async () => (await subscribers()) === 0);
    await own.move(slot, to, from);
  });
});
