import { JITTER } from '../../../packages/core/src/algorithms/algorithm.js';
import { eventually } from '../../faults/own-redis.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { uniqueName } from '../../support/redis-url.js';
import { START } from '../../support/timeline.js';
import { type RedisSide, redisSide } from './sides.js';
import { DAY, HOUR, LIMIT, SECOND, type Subject, subjects, YEAR } from './subjects.js';

/*
 * A replica whose clock differs from its master's clock is promoted. Real replication copies the state. A key expires at a moment of
 * the master's clock: earlier by a clock that is ahead, later by a clock that is behind. Both servers here have the clock of this
 * machine, so PEXPIRE moves that moment. The scripts get each server's time as an argument.
 */

const skews: Readonly<Record<string, number>> = {
  '5 ms ahead': 5_000,
  '5 ms behind': -5_000,
  '1 s ahead': SECOND,
  '1 s behind': -SECOND,
  '1 h ahead': HOUR,
  '1 h behind': -HOUR,
  '1 day ahead': DAY,
  '1 day behind': -DAY,
  '10 years ahead': 10 * YEAR,
  '10 years behind': -10 * YEAR,
};

let servers: RedisServer[] = [];
let master: RedisSide;
let replica: RedisSide;
beforeAll(async () => {
  const args = ['--repl-diskless-sync-delay', '0']; // otherwise a replica waits 5 s for others
  servers = [await startRedis({ args }), await startRedis({ args })];
  [master, replica] = servers.map(({ url }) => redisSide(url)) as [RedisSide, RedisSide];
});
afterAll(async () => {
  await Promise.all([master?.close(), replica?.close()]);
  await Promise.all(servers.map((server) => server.stop()));
});

async function replicate(): Promise<void> {
  await replica.redis.replicaof('127.0.0.1', servers[0]!.port);
  await eventually(async () => {
    expect(await replica.redis.info('replication')).toContain('master_link_status:up');
  });
}

/** Promotes the replica after it has all writes. */
async function promote(): Promise<void> {
  expect(await master.redis.wait(1, 10_000)).toBe(1);
  await replica.redis.replicaof('NO', 'ONE');
}

async function skewExpiry(skew: number, key: string): Promise<void> {
  const ttl = await replica.redis.pttl(key);
  if (ttl > 0) await replica.redis.pexpire(key, Math.max(0, ttl - Math.floor(skew / 1000)));
}

async function takeAll({ ask }: { ask: ReturnType<RedisSide['key']>['ask'] }, now: number): Promise<number> {
  let taken = 0;
  while ((await ask(now)).allowed) taken += 1;
  return taken;
}

const cases = Object.entries(subjects).map(([name, subject]) => [name, subject] as const);

describe.each(Object.entries(skews))('the replica is %s', (_, skew) => {
  const keys = cases.map(() => uniqueName('failover'));
  /** Admitted permits of each key before the promotion, and permits that the master admitted after it. */
  const taken = cases.map(() => 0);
  const lost = cases.map(() => 0);

  beforeAll(async () => {
    await replicate();
    for (const [i, [, { policy }]] of cases.entries()) {
      const key = master.key(policy, keys[i]);
      for (let k = 0; k < LIMIT / 2; k += 1) if ((await key.ask(START)).allowed) taken[i]! += 1;
    }
    await promote();
    for (const [i, [, { policy }]] of cases.entries()) {
      lost[i] = await takeAll(master.key(policy, keys[i]), START);
      await skewExpiry(skew, keys[i]!);
    }
  });

  test.each(cases.map(([name, subject], i) => [name, i, subject] as const))(
    '%s: admits at most one limit and the lost writes more, recovers within a window, keeps a TTL',
    async (_, i, { policy, window, longestTtl, most }: Subject) => {
      const key = replica.key(policy, keys[i]);
      const now = START + skew;
      const { wait } = await key.ask(now, { operation: 'peek', cost: LIMIT });
      expect(wait).toBeLessThanOrEqual(window + JITTER);

      let admitted = taken[i]! + lost[i]!;
      for (let step = 0; step <= 8; step += 1) {
        admitted += await takeAll(key, now + Math.floor((step * window) / 4));
        const ttl = await replica.redis.pttl(keys[i]!);
        expect(ttl).toBeGreaterThan(0);
        expect(ttl).toBeLessThanOrEqual((longestTtl + JITTER) / 1000 + 3);
      }
      expect(admitted).toBeLessThanOrEqual(most(2 * window) + LIMIT + lost[i]!);
      expect(admitted).toBeGreaterThanOrEqual(2 * LIMIT);
    },
  );
});

test('an unused key expires by its TTL, which each server measures by its own clock', async () => {
  await replicate();
  const name = uniqueName('left');
  await master.key(subjects.slidingLog!.policy, name).ask(START);
  await promote();
  const [there, here] = [await master.redis.pttl(name), await replica.redis.pttl(name)];
  expect(there).toBeGreaterThan(0);
  expect(Math.abs(there - here)).toBeLessThan(60_000);
  await skewExpiry(HOUR + SECOND, name);
  expect(await replica.redis.exists(name)).toBe(0);
});
