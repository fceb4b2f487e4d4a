import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { parseRules } from '../../../packages/rules/src/index.js';
import { LogRequest } from '../../../packages/rules/src/simulate/log/log-request.js';
import { Replay, type Replayed } from '../../../packages/rules/src/simulate/replay.js';
import { randomFrom, seedOf } from '../../support/random.js';
import { uniqueName } from '../../support/redis-url.js';
import { RedisAt } from './redis-at.js';

// Run by redis.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node replay-on-redis.cjs <address of Redis> <number of requests>
// Prints the algorithm and the denials of each limit, as JSON; throws the first difference.

const rules = parseRules(`
name: ${uniqueName('replay').replace(/\W/g, '-')}
plans: { free: { n: 12 }, pro: { n: 14 } }
defaultPlan: free
rules:
  - name: users
    match: { path: /v1/* }
    key: '#{user.id}'
    plan: '#{user.plan}'
    cost: '#{query.cost}'
    limits:
      bucket: { tokenBucket: { capacity: $plan.n, refill: $plan.n, every: 1m } }
      batches: { tokenBucket: { capacity: 100, refill: 50, every: 10m, mode: interval } }
      day: { fixedWindow: { limit: 250, window: 1d, align: clock, timeZone: Europe/Berlin } }
  - name: addresses
    match: { path: [/login, /v1/b] }
    key: IP
    limits:
      gcra: { gcra: { limit: 12, period: 1m, burst: 3 } }
      sliding: { slidingWindow: { limit: 40, window: 10m, slots: 10 } }
  - name: writes
    match: { method: [POST, PUT], path: /v1/* }
    key: '#{user.id}'
    limits:
      log: { slidingLog: { limit: 10, window: 1m } }
      leaky: { leakyBucket: { capacity: 4, leak: 20, every: 1m } }
  - name: slow
    match: { path: /v1/reports/* }
    key: '#{user.id}'
    limit: { concurrency: { limit: 2, lease: 1m } }
  - name: free
    match: { path: /v1/free }
    unlimited: true
    replaces: [users]
  - name: next
    mode: shadow
    compare: users
    limit: { fixedWindow: { limit: 10, window: 1m } }
`);

/** A log of an hour or more: bursts, quiet times, several requests at one moment. */
function requests(count: number): LogRequest[] {
  const random = randomFrom(seedOf(20_261_123));
  let time = Date.parse('2026-10-25T00:10:00Z') * 1000; // summer time ends in Berlin
  return Array.from({ length: count }, () => {
    const kind = random(100);
    time += kind < 30 ? 0 : kind < 90 ? random(400_000) : random(kind === 99 ? 120_000_000 : 3_000_000);
    const user = random(12) ** 2 % 17;
    const path = ['/v1/a', '/v1/b', '/v1/reports/x', '/v1/free', '/login'][random(5)]!;
    const cost = random(10) === 0 ? `?cost=${random(8)}` : '';
    return new LogRequest({
      time,
      duration: random(3) === 0 ? undefined : random(20_000_000),
      ip: `203.0.113.${user % 5}`,
      user: random(40) === 0 ? undefined : { id: `user-${user}`, plan: ['free', 'pro', 'gold'][user % 3] },
      method: random(3) === 0 ? 'POST' : 'GET',
      url: path + cost,
    });
  });
}

/** Every decision of a request, by all rules. */
const plain = ({ allowed, decision, deniedBy, shadows }: Replayed): string =>
  JSON.stringify([
    allowed,
    deniedBy?.rule.name,
    decision && { ...decision, source: '', policies: decision.policies, moreAfter: decision.moreAfter },
    shadows.map((one) => one.decision && { ...one.decision, source: '', policies: one.decision.policies }),
  ]);

async function main(url: string, count: number): Promise<void> {
  const redis = new Redis(url);
  const [memory, real] = [
    new Replay(rules),
    new Replay(rules, { storeOn: (clock) => new RedisAt(redis, clock) }),
  ];
  try {
    for (const [i, request] of requests(count).entries()) {
      const [mine, theirs] = [await memory.decide(request), await real.decide(request)];
      if (plain(mine) !== plain(theirs))
        throw new Error(`request ${i}: ${plain(mine)} in memory, ${plain(theirs)} in Redis`);
    }
    const { rules: report } = memory.report;
    const asReported = { ...real.report, storeFull: memory.report.storeFull };
    if (!isDeepStrictEqual(asReported, memory.report))
      throw new Error(`${JSON.stringify(memory.report)} in memory, ${JSON.stringify(asReported)} in Redis`);
    const limits = report.flatMap(({ rule, limits }) =>
      limits.map(({ policy: { algorithm }, denied }) => ({ rule, algorithm, denied })),
    );
    console.log(JSON.stringify(limits));
  } finally {
    await memory.close();
    await real.close();
    const keys = await redis.keys(`*${rules.name}*`);
    if (keys.length > 0) await redis.del(keys);
    redis.disconnect();
  }
}

const [url = '', count = ''] = process.argv.slice(2);
void main(url, Number(count));
