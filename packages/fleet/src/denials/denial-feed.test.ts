import { setTimeout as sleep } from 'node:timers/promises';
import { CombinedLimiter, fixedWindow, hashKey, memoryStore, RateLimiter, type Store } from '@sluice/core';
import { DECISION, decodeKey, STORE_CALL } from '@sluice/core/internal';
import { eventually } from '../../../../tests/support/eventually.js';
import { uniqueName } from '../../../../tests/support/redis-url.js';
import { type DenialReport, followDenials } from '../index.js';

// In memory. Processes that share a Redis are tested in tests/integration/fleet.

const limiterOf = (store: Store, name = uniqueName('feed')) =>
  new RateLimiter({ name, policy: fixedWindow({ limit: 1, window: '1h' }), store });

function following(store: Store) {
  const reports: DenialReport[] = [];
  const stop = followDenials(store, { report: (report) => void reports.push(report) });
  const denials = () => reports.flatMap((report) => report.denials);
  return { reports, denials, stop };
}

test('the decision channel has a subscriber only while there is a follower', async () => {
  const store = memoryStore();
  const limiter = limiterOf(store);
  await limiter.consume('k');
  expect([DECISION.hasSubscribers, STORE_CALL.hasSubscribers]).toEqual([false, false]);
  const [one, two] = [following(store), following(store)];
  expect(DECISION.hasSubscribers).toBe(true);
  one.stop();
  await limiter.consume('k');
  await eventually(async () => two.denials().length === 1);
  expect(one.reports).toEqual([]);
  two.stop();
  await eventually(async () => !DECISION.hasSubscribers && !STORE_CALL.hasSubscribers);
  await store.close();
});

test('close ends following at once', async () => {
  const store = memoryStore();
  following(store);
  await store.close();
  expect(DECISION.hasSubscribers).toBe(false);
  following(store);
  expect(DECISION.hasSubscribers).toBe(false);
});

test('a report has key, limiter, cost and moment of a denial, and counts equal denials', async () => {
  const [store, other] = [memoryStore(), memoryStore()];
  const limiter = limiterOf(store);
  const elsewhere = limiterOf(other);
  const { denials, reports, stop } = following(store);
  const before = Date.now();
  for (let i = 0; i < 4; i += 1) await limiter.consume('ann\n');
  await limiter.consume('bob', { cost: 2, shadow: true });
  await expect(limiter.acquire('ann\n', { timeout: 0 })).rejects.toThrow();
  for (let i = 0; i < 4; i += 1) await elsewhere.consume('elsewhere');
  await eventually(async () => denials().length > 0);
  stop();
  expect(denials()).toEqual([
    {
      at: expect.any(Number),
      limiter: limiter.name,
      policy: limiter.name,
      key: 'ann%0A',
      cost: 1,
      count: 4,
      retryAfter: expect.any(Number),
      mode: 'enforce',
      source: 'memory',
      degraded: false,
    },
    expect.objectContaining({ key: 'bob', cost: 2, count: 1, retryAfter: null, mode: 'shadow' }),
  ]);
  const [{ at, key, retryAfter }] = denials() as [ReturnType<typeof denials>[number]];
  expect(decodeKey(key)).toBe('ann\n');
  expect(at).toBeGreaterThanOrEqual(before - 1_000);
  expect(at).toBeLessThanOrEqual(Date.now() + 1_000);
  expect(retryAfter).toBeGreaterThan(3_500_000);
  expect(reports[0]).toMatchObject({ process: store.fleet.process, pid: process.pid, omitted: 0 });
  await Promise.all([store.close(), other.close()]);
});

test('a combination reports the key of the member that denied, hashed if the store hashes keys', async () => {
  const store = memoryStore({ usage: true });
  const [ip, user] = [limiterOf(store), limiterOf(store)];
  const both = new CombinedLimiter({ ip, user }, { name: uniqueName('both') });
  const { denials, stop } = following(store);
  await user.consume('ann');
  await both.consume({ ip: '203.0.113.7', user: 'ann' });
  await eventually(async () => denials().length > 0);
  stop();
  expect(denials()).toMatchObject([{ limiter: both.name, policy: 'user', key: hashKey('ann') }]);
  await store.close();
});

test('a report has at most 100 different denials, and the number of the others', async () => {
  const store = memoryStore();
  const limiter = limiterOf(store);
  const { denials, reports, stop } = following(store);
  const keys = 2_000;
  for (let round = 0; round < 2; round += 1)
    for (let i = 0; i < keys; i += 1) limiter.consumeSync(`${'k'.repeat(100)}${i}`);
  for (let i = 0; i < 1_000; i += 1) limiter.consumeSync(`${'k'.repeat(100)}0`);
  const omitted = () => reports.reduce((sum, report) => sum + report.omitted, 0);
  const counted = () => denials().reduce((sum, { count }) => sum + count, 0);
  await eventually(async () => omitted() + counted() === keys + 1_000);
  stop();
  for (const report of reports) expect(report.denials.length).toBeLessThanOrEqual(100);
  expect(denials().find(({ key }) => key.endsWith('k0'))!.count).toBeGreaterThan(1);
  await store.close();
});

test('a foreign report is ignored', async () => {
  const store = memoryStore();
  const { reports, stop } = following(store);
  const denial = {
    limiter: 'l',
    policy: 'l',
    key: 'k',
    cost: 1,
    count: 1,
    age: 1,
    retryAfter: null,
    source: 'x',
  };
  const report = { form: 1, host: 'h', pid: 1, denials: [denial], omitted: 0 };
  const publish = (text: unknown) =>
    store.fleet.broadcast(typeof text === 'string' ? text : JSON.stringify(text));
  const wrong: object[] = [
    { form: 2 },
    { host: 'a\u001b' },
    { pid: '1' },
    { omitted: -1 },
    { calls: { count: 1 } },
    { calls: null },
    { denials: {} },
    { denials: [null] },
    { denials: Array(101).fill(denial) },
    ...[
      { key: 'a b' },
      { key: '\n' },
      { limiter: '\u001b[2J' },
      { age: 1e300 },
      { retryAfter: 'x' },
      { source: '' },
    ].map((field) => ({ denials: [{ ...denial, ...field }] })),
  ];
  for (const text of ['{', 'null', '[]', '1', 'x'.repeat(300_000)]) await publish(text);
  for (const fields of wrong) await publish({ ...report, ...fields });
  await publish(report);
  expect(reports).toHaveLength(1);
  stop();
  await store.close();
});

test('with `definitions: false` only followers in the same process receive reports', async () => {
  const store = memoryStore({ definitions: false });
  const limiter = limiterOf(store);
  const { denials, stop } = following(store);
  for (let i = 0; i < 2; i += 1) await limiter.consume('k');
  await eventually(async () => denials().length === 1);
  stop();
  stop();
  await sleep(0);
  await store.close();
});

test('followDenials throws for a store without a board', () => {
  expect(() => followDenials({} as Store, { report: () => {} })).toThrow(
    /followDenials: the store must be memoryStore\(\) or redisStore\(…\), not an object/,
  );
});
