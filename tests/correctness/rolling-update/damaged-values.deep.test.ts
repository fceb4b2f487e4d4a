import { Redis } from 'ioredis';
import {
  type Decision,
  isRateLimitExceededError,
  isStoreConfigurationError,
  type Policy,
  RateLimiter,
  type RedisStore,
  redisStore,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import { kinds } from '../../contracts/store/kinds.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { uniqueName } from '../../support/redis-url.js';
import { damages } from './damage.js';

const LIMIT = 10;
const HOUR = 3_600_000;

/** A server of its own: a script that does not end would stop every other test. */
let server: RedisServer;
let admin: Redis;
let store: RedisStore;
let limiter: RateLimiter;

beforeAll(async () => {
  server = await startRedis({ args: ['--lua-time-limit', '20'] });
  admin = new Redis(server.url);
  store = redisStore(server.url);
});

afterEach(() => limiter.close());

afterAll(async () => {
  await store.close();
  admin.disconnect();
  await server.kill('SIGKILL');
  await server.stop();
});

type PolicyOf = (permits: number) => Policy;
type Make = (limiter: RateLimiter, policyOf: PolicyOf) => Promise<unknown>;

const take: Make = async (limiter) => {
  for (const cost of [1, 2, 1]) await limiter.consume('k', { cost });
};
const book: Make = async (limiter) => {
  await limiter.consume('k', { cost: LIMIT });
  for (const cost of [1, 3]) void limiter.acquire('k', { cost }).catch(() => undefined);
  await limiter.peek('other');
};

/** Calls that make a key hold each kind of value. */
const values: Record<string, Make> = {
  'a bare state': take,
  'a blocked key': async (limiter, policyOf) => {
    await take(limiter, policyOf);
    await limiter.block('k', '1h');
  },
  'waiting calls': book,
  'an overridden key': async (limiter, policyOf) => {
    await take(limiter, policyOf);
    await limiter.override('k', policyOf(20), { expiresIn: '1h' });
    await limiter.consume('k');
  },
  'waiting calls of an overridden key': async (limiter, policyOf) => {
    await limiter.override('k', policyOf(LIMIT), { expiresIn: '1h' });
    await book(limiter, policyOf);
  },
  'counted denials': async (limiter) => {
    await limiter.consume('k', { cost: LIMIT });
    for (let i = 0; i < 3; i += 1) await limiter.consume('k');
  },
};
const cases = Object.keys(kinds).flatMap((kind) =>
  Object.keys(values).map((value) => [kind, value] as const),
);

const limiterOf = (name: string, policy: Policy) =>
  new RateLimiter({
    ...{ name, policy, store, deadline: '10s', denyCache: false },
    escalate: { after: 3, within: '1h', block: ['1m', '1h'] },
  });

/** A call of a damaged key may reject with a coded error, or decide by whole numbers within the limit. */
function expectSane(outcome: PromiseSettledResult<unknown>, what: string): void {
  if (outcome.status === 'rejected') {
    const { reason } = outcome;
    if (isRateLimitExceededError(reason)) return;
    const cause = isStoreConfigurationError(reason) && String(reason.cause);
    expect([what, String(reason), cause]).toEqual([
      ...[what, String(reason)],
      expect.stringContaining('SLUICE foreign value in '),
    ]);
  } else if (outcome.value !== undefined) {
    const { remaining, retryAfter, allowed } = outcome.value as Decision;
    const fine =
      Number.isInteger(remaining) && remaining >= 0 && (allowed ? retryAfter === 0 : retryAfter > 0);
    expect([what, remaining, retryAfter, fine]).toEqual([what, remaining, retryAfter, true]);
  }
}

/** The operations of the calls, in turn. */
const operations: ((key: string, policyOf: PolicyOf) => Promise<unknown>)[] = [
  (key) => limiter.consume(key),
  (key) => limiter.peek(key),
  (key) => limiter.consume(key, { cost: 3, debug: true }),
  (key) => limiter.acquire(key, { timeout: 1 }),
  (key) => limiter.block(key, '1m'),
  (key, policyOf) => limiter.override(key, policyOf(30), { expiresIn: '1h' }),
  (key) => limiter.removeOverride(key),
];
/** Operations that `concurrency` does not have. */
const spending: typeof operations = [(key) => limiter.reward(key, 2), (key) => limiter.penalty(key, 2)];

test.each(cases)('%s, %s: a damaged value fails only the calls of its key', async (kind, value) => {
  const policyOf = (permits: number) => kinds[kind]!.policyOf('1h', permits);
  limiter = limiterOf(uniqueName('damaged'), policyOf(LIMIT));
  await values[value]!(limiter, policyOf);
  const stored = (await admin.keys(`*:${limiter.name}:{k}*`)).sort();
  expect(stored).not.toEqual([]);
  const raws = await Promise.all(stored.map((key) => admin.getBuffer(key)));
  const calls: (() => Promise<unknown>)[] = [];
  const possible = kind === 'concurrency' ? operations : [...operations, ...spending];
  const whats: string[] = [];
  const writes = admin.pipeline();
  for (const [place, key] of stored.entries()) {
    for (const [what, damaged] of damages(raws[place]!, 7 + place)) {
      const copy = `d${whats.length}`;
      for (const [i, one] of stored.entries()) {
        writes.set(one.replace('{k}', `{${copy}}`), i === place ? damaged : raws[i]!, 'PX', HOUR);
      }
      whats.push(`${key}: ${what}`);
      calls.push(possible[whats.length % possible.length]!.bind(undefined, copy, policyOf));
    }
  }
  await writes.exec();
  // All in one turn, so that each script call has damaged keys and others.
  const [outcomes, others] = await Promise.all([
    Promise.allSettled(calls.map((call) => call())),
    Promise.allSettled(calls.map((_, i) => limiter.consume(`other${i}`))),
  ]);
  for (const [i, outcome] of outcomes.entries()) expectSane(outcome, whats[i]!);
  for (const [i, other] of others.entries())
    expect([whats[i], other]).toMatchObject([whats[i], { value: { allowed: true, remaining: LIMIT - 1 } }]);
});

test.each(['rate', 'all'])('SharedLimiter, key %s: calls reject or repair a damaged value', async (part) => {
  limiter = limiterOf('beside', kinds.gcra!.policyOf('1h'));
  const shared = new SharedLimiter({ name: `damaged-${part}`, store, deadline: '10s' });
  await shared.setRate({ rate: 10, interval: '1h' });
  await shared.tryAcquire(3);
  const [key] = await admin.keys(`*:shared:{${shared.name}}:${part}`);
  const raw = (await admin.getBuffer(key!))!;
  for (const [what, damaged] of damages(raw, 11)) {
    await admin.set(key!, damaged, 'PX', HOUR);
    const outcomes = await Promise.allSettled([
      ...[shared.availablePermits(), shared.tryAcquire(), shared.getConfig()],
      ...[shared.updateRate({ rate: 20, interval: '1h' }), limiter.peek('k')],
    ]);
    expect([what, outcomes.pop()]).toMatchObject([what, { status: 'fulfilled' }]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expectSane(outcome, what);
  }
});
