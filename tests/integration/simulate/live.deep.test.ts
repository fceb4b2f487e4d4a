import { Readable } from 'node:stream';
import { readUsage } from '@sluice/fleet';
import { ManualClock, memoryStore } from '../../../packages/core/src/index.js';
import { type FetchRateLimit, rateLimit } from '../../../packages/fetch/src/index.js';
import { parseRules, Rules } from '../../../packages/rules/src/index.js';
import { simulate } from '../../../packages/rules/src/simulate/index.js';
import { fractionsFrom } from '../../support/random.js';

const DOCUMENT = `
name: shop
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{user.id}'
    limits:
      perMinute: { tokenBucket: { capacity: 10, refill: 10, every: 1m } }
      perDay: { fixedWindow: { limit: 200, window: 1d } }
  - name: next
    mode: shadow
    compare: api
    limit: { gcra: { limit: 6, period: 1m, burst: 4 } }
  - name: orders
    match: { path: /v1/orders }
    limit: { slidingWindow: { limit: 30, window: 1m } }
`;

interface LoggedCall {
  readonly time: number;
  readonly user: string;
  readonly ip: string;
  readonly path: string;
}

/** Requests of users, a few of whom send much more than the others. */
function traffic(requests: number, users: number): LoggedCall[] {
  const random = fractionsFrom(7);
  return Array.from({ length: requests }, (_, i) => ({
    time: Date.UTC(2026, 10, 23) + i * 40,
    user: `user-${Math.floor(users * random() ** 2)}`,
    ip: `10.0.0.${Math.floor(20 * random())}`,
    path: i % 3 === 0 ? '/v1/orders' : '/v1/items',
  }));
}

/** Calls `each` with the requests, each at its moment. */
async function replay(lines: readonly LoggedCall[], each: (rules: Rules, line: LoggedCall) => unknown) {
  const clock = new ManualClock();
  const store = memoryStore({ clock, usage: { keys: 'plain', keyUse: true } });
  const rules = new Rules(DOCUMENT, { store });
  try {
    for (const line of lines) {
      clock.set(line.time * 1_000);
      await each(rules, line);
    }
    return (await readUsage(store)).limiters;
  } finally {
    await rules.close();
    await store.close();
  }
}

/** The counts of an app with these rules. */
function live(lines: readonly LoggedCall[]) {
  let limit: FetchRateLimit | undefined;
  return replay(lines, (rules, { path, ip, user }) => {
    limit ??= rateLimit({ rules });
    return limit(new Request(`https://shop.example${path}`), { ip, user: { id: user } });
  });
}

/** The highest use of the candidate by each key, ascending. */
async function peaksOf(lines: readonly LoggedCall[]): Promise<number[]> {
  const peaks = new Map<string, number>();
  await replay(lines, async (rules, { path, ip, user }) => {
    const nothing = { params: undefined, query: undefined, body: undefined, headers: {} };
    const { shadows } = await rules.decide({ ...nothing, method: 'GET', path, ip, user: { id: user } });
    const { limit, remaining } = shadows[0]!.decision!;
    peaks.set(user, Math.max(peaks.get(user) ?? 0, (limit - remaining) / limit));
  });
  return [...peaks.values()].sort((one, other) => one - other);
}

const simulated = async (lines: readonly LoggedCall[]) => {
  const log = Readable.from(lines.map((line) => `${JSON.stringify({ method: 'GET', ...line })}\n`));
  return (await simulate(parseRules(DOCUMENT), log)).rules.rules;
};
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
const QUANTILES = { p50: 0.5, p90: 0.9, p99: 0.99, max: 1 };

test('live figures equal those of a replay of the same requests', async () => {
  const lines = traffic(3_000, 300);
  const found = await live(lines);
  const rules = await simulated(lines);
  for (const { rule, mode, denied, keys, limits, hit } of rules) {
    const usage = found.find(({ limiter }) => limiter === `shop.${rule}`)!;
    const isShadow = mode === 'shadow';
    const use = (isShadow ? usage.shadowKeyUse : usage.keyUse)!;
    expect([rule, use.keys, use.error]).toEqual([rule, keys, 0]);
    expect(use.policies).toHaveLength(limits.length);
    limits.forEach((limit, i) => {
      const { policy, keys: met, use: quantiles } = use.policies[i]!;
      expect([policy === undefined ? rule : `${rule}.${policy}`, met]).toEqual([limit.limit, limit.keys]);
      for (const name of ['p50', 'p90', 'p99', 'max'] as const)
        expect(Math.abs(quantiles[name] - limit.use[name])).toBeLessThanOrEqual(0.00251); // half percents
    });
    // Of several enforced rules, live only one counts a denial.
    if (!isShadow) continue;
    expect(denied).toBeGreaterThan(100);
    expect(sum(usage.shadowDecisions.denied)).toBe(denied);
    const worst = usage.shadowDenied.map(({ key, count }) => ({ key, requests: count, error: 0 }));
    expect(worst).toEqual(expect.arrayContaining(hit));
  }
});

test('with more keys than a sample has, live figures are within the stated errors', async () => {
  const lines = traffic(8_000, 8_000);
  const [found, rules, peaks] = [await live(lines), await simulated(lines), await peaksOf(lines)];
  const { keys } = rules.find(({ rule }) => rule === 'next')!;
  const use = found.find(({ limiter }) => limiter === 'shop.next')!.shadowKeyUse!;
  expect([peaks.length, keys > 4_000]).toEqual([keys, true]);
  expect(use.error).toBeGreaterThan(0);
  expect(use.error).toBeLessThanOrEqual(1 / 32);
  expect(Math.abs(use.keys / keys - 1)).toBeLessThanOrEqual(3 * use.error);
  for (const [name, share] of Object.entries(QUANTILES)) {
    const ranked = (rank: number) => peaks[Math.min(keys, Math.max(1, Math.ceil(rank * keys))) - 1]!;
    const within = name === 'max' ? 0 : (3 * use.error) / 2;
    const quantile = use.policies[0]!.use[name as keyof typeof QUANTILES];
    expect(quantile).toBeGreaterThanOrEqual(ranked(share - within) - 0.00251);
    expect(quantile).toBeLessThanOrEqual(ranked(share + within) + 0.00251);
  }
});
