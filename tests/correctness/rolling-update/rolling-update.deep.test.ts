import { Redis } from 'ioredis';
import { fixedWindow, type Policy, tokenBucket } from '../../../packages/core/src/index.js';
import { LAYOUT } from '../../../packages/core/src/limiter/limits.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { type Report, Service } from './service.js';

// The layout before this one runs in processes of its own beside today's, on one Redis, as in a deployment that replaces one after
// another. What holds for two releases of one layout, whose policies have other numbers: 'changed limits meet the same state' in
// tests/contracts/store/deciding.suite.ts.

const LIMIT = 20;
const HOUR = 3_600_000;
const KEYS = Array.from({ length: 10 }, (_, i) => `user-${i}`);

/** Both that the old layout had, of the same numbers: `limit` permits in a period. */
const limits = (limit: number, period: string): Record<string, Policy> => ({
  window: fixedWindow({ limit, window: period }),
  bucket: tokenBucket({ capacity: limit, refill: limit, every: period }),
});

const admin = new Redis(redisUrl());
let service: Service;
const open = async (policies: Record<string, Policy>) => {
  service = await Service.create(uniqueName('update'), redisUrl(), policies);
};
const keysOf = async (layout: string) => (await admin.keys(`sluice:${layout}:*:${service.name}-*`)).sort();

afterEach(() => service.stop());
afterAll(() => admin.disconnect());

test('while processes are replaced under load no call fails, and each layout admits its own limit and not one call more', async () => {
  await open({
    window: fixedWindow({ limit: LIMIT, window: '1h' }),
    // Not one permit comes back while the test runs.
    bucket: tokenBucket({ capacity: LIMIT, refill: 1, every: '1h' }),
  });
  const enough = 3 * KEYS.length * LIMIT; // calls that use up all limits, if they come from one process
  const flooding = async (starting: ReturnType<Service['startOld']>) => {
    const started = await starting;
    await started.flood(KEYS);
    return started;
  };

  const [first, second] = await Promise.all([flooding(service.startOld()), flooding(service.startOld())]);
  await first.asked(100);
  const third = await flooding(service.startNew());
  await Promise.all([first.asked(enough), third.asked(enough)]);
  const old = [await first.end()];
  const fourth = await flooding(service.startNew());
  await Promise.all([second.asked(enough), fourth.asked(100)]);
  old.push(await second.end());
  await Promise.all([third.asked(2 * enough), fourth.asked(enough)]);
  const fresh = [await third.end(), await fourth.end()];

  const reports = [...old, ...fresh];
  expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
  const everyLimitOnce = Object.fromEntries(
    ['window', 'bucket'].flatMap((policy) => KEYS.map((key) => [`${policy} ${key}`, LIMIT])),
  );
  expect(admitted(old)).toEqual(everyLimitOnce);
  expect(admitted(fresh)).toEqual(everyLimitOnce);
  // Every denial has a `retryAfter`, and it is at most the window.
  for (const { longestRetry } of reports) expect(longestRetry).toBeLessThanOrEqual(HOUR);
  const [v1, now] = [await keysOf('v1'), await keysOf(LAYOUT)];
  expect(v1).toHaveLength(2 * KEYS.length);
  expect(now).toEqual(v1.map((key) => key.replace(':v1:', `:${LAYOUT}:`)));
});

test('who used up a limit in one layout waits for it there for its period at most, and in the other not at all; the old keys lapse', async () => {
  const period = 3_000;
  await open(limits(5, `${period}ms`));
  const [old, fresh] = [await service.startOld(), await service.startNew()];
  const whole = { cost: 5 };
  const usedUp = async (policy: string) => {
    for (const process of [old, fresh, old, fresh]) {
      // The third and the fourth get what the first two took; `acquire` waits until it is back, and rejects if that is too long.
      await process.call(policy, 'acquire', 'k', { ...whole, timeout: period });
      const denied = await process.call(policy, 'consume', 'k', whole);
      expect(denied.allowed).toBe(false);
      expect(denied.retryAfter).toBeLessThanOrEqual(period);
    }
  };
  await Promise.all([usedUp('window'), usedUp('bucket')]);

  await old.end();
  expect(await keysOf('v1')).toHaveLength(2);
  for (const key of await keysOf('v1')) {
    const life = await admin.pttl(key);
    expect(life).not.toBe(-1); // no TTL; -2: it has gone just now
    expect(life).toBeLessThanOrEqual(period + 2);
  }
  await new Promise((resolve) => setTimeout(resolve, period + 10));
  expect(await keysOf('v1')).toEqual([]);
  expect(await fresh.call('window', 'consume', 'k', whole)).toMatchObject({ allowed: true });
  expect(await fresh.call('bucket', 'consume', 'k', whole)).toMatchObject({ allowed: true });
});

test('a wait that was booked in the old layout ends at its moment, whatever the new processes do', async () => {
  const period = 3_000;
  await open(limits(1, `${period}ms`));
  const [old, fresh] = [await service.startOld(), await service.startNew()];
  await old.call('bucket', 'consume', 'k');
  const booked = old.call('bucket', 'acquire', 'k');
  expect(await fresh.call('bucket', 'consume', 'k')).toMatchObject({ allowed: true });
  const { waited } = await booked;
  expect(waited).toBeGreaterThan(0);
  expect(waited).toBeLessThanOrEqual(period);
});

function admitted(reports: readonly Report[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const report of reports) {
    for (const [key, calls] of Object.entries(report.admitted)) sums[key] = (sums[key] ?? 0) + calls;
  }
  return sums;
}
