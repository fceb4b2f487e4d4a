import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { Operation, Policy, Rule, State } from '../../packages/core/src/algorithms/algorithm.js';
import { algorithms, compilePolicy } from '../../packages/core/src/algorithms/index.js';
import { fixedWindow, tokenBucket, tokenBucketOfRate } from '../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';
import { START } from '../support/timeline.js';

/**
 * Each algorithm exists twice: as `step` and as Lua. Here both are asked the same random questions at the same injected
 * moments, and every answer and every stored state must be the same to the microsecond, every TTL to the millisecond.
 */
const RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? 1_000);
const HOUR = 3_600_000_000;

/** Policies of every scale, from a permit a µs to one in days. */
const policies: Record<string, fc.Arbitrary<Policy>> = {
  fixedWindow: fc
    .record({
      limit: fc.integer({ min: 1, max: 12 }),
      window: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: HOUR / 1000 })),
    })
    .map(fixedWindow),
  tokenBucket: fc.oneof(
    fc
      .record({
        capacity: fc.integer({ min: 1, max: 12 }),
        refill: fc.integer({ min: 1, max: 3_000 }),
        every: fc.integer({ min: 1, max: 100_000 }),
      })
      .map(tokenBucket),
    fc
      .record({
        rate: fc.double({ min: 0.001, max: 5_000, noNaN: true }),
        burst: fc.double({ min: 0.01, max: 100, noNaN: true }),
      })
      .map(tokenBucketOfRate),
  ),
};

/** How far the clock moves: mostly a little, sometimes by much, sometimes back. */
const moves = fc.oneof(
  { weight: 6, arbitrary: fc.nat(200_000) },
  { weight: 2, arbitrary: fc.nat(HOUR) },
  { weight: 1, arbitrary: fc.integer({ min: -HOUR, max: 0 }) },
  { weight: 1, arbitrary: fc.constant(0) },
);

const questions = fc.array(
  fc.record({
    move: moves,
    operation: fc.constantFrom<Operation>('consume', 'consume', 'consume', 'peek', 'refund'),
    cost: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 14 })),
    maxWait: fc.oneof(fc.constant(0), fc.nat(1_000_000), fc.nat(HOUR)),
    /** For a refund: which of the moments given so far. */
    given: fc.nat(10),
  }),
  { minLength: 1, maxLength: 20 },
);

describe.each(Object.keys(policies))('%s: the Lua twin answers as the step does', (name) => {
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(redisUrl());
  });
  afterAll(() => redis.disconnect());

  test(`over ${RUNS} random histories`, async () => {
    let asked = 0;
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(policies[name]!, questions, async (policy, history) => {
        const rule = compilePolicy(policy);
        const expected = model(rule, history, seen);
        const started = performance.now();
        const actual = await twin(redis, rule, expected);
        const lost = performance.now() - started + 1;
        expect(actual.map(({ reply, stored }) => ({ reply, stored }))).toEqual(
          expected.map(({ reply, stored }) => ({ reply, stored })),
        );
        actual.forEach(({ ttl }, i) => {
          // What is left of a TTL is told in real time, of which at most `lost` has passed.
          const due = expected[i]!.ttl;
          expect(ttl).toBeLessThanOrEqual(due);
          expect(ttl).toBeGreaterThanOrEqual(due < 0 ? due : Math.max(0, Math.floor(due - lost)));
        });
        asked += history.length;
      }),
      { numRuns: RUNS },
    );
    // The histories were worth their while: every kind of answer came up.
    expect([...seen].sort()).toEqual([
      'allowed',
      'booked',
      'clock back',
      'denied',
      'never',
      'repaired',
      'returned',
    ]);
    expect(asked).toBeGreaterThan(RUNS);
  }, 300_000);
});

interface Asked {
  readonly operation: Operation;
  readonly cost: number;
  readonly maxWait: number;
  readonly at: number;
}

function model(
  rule: Rule,
  history: readonly { move: number; operation: Operation; cost: number; maxWait: number; given: number }[],
  seen: Set<string>,
) {
  let now = START;
  let state: State | undefined;
  const moments = [START];
  return history.map(({ move, given, ...asked }) => {
    now += move;
    const question: Asked = { ...asked, at: moments[given % moments.length]! };
    const before = state;
    const step = rule.algorithm.step(rule.parameters, state, now, question);
    if (asked.operation !== 'peek') state = step.state;
    if (asked.operation === 'consume' && step.allowed) moments.push(now + step.wait);

    if (move < 0) seen.add('clock back');
    if (asked.operation === 'refund') seen.add(state === before ? 'allowed' : 'returned');
    else seen.add(step.allowed ? (step.wait > 0 ? 'booked' : 'allowed') : step.wait < 0 ? 'never' : 'denied');
    if (!step.allowed && state !== before) seen.add('repaired');

    const written = asked.operation !== 'peek' && state !== before && state !== undefined;
    return {
      now,
      question,
      reply: [step.allowed ? 1 : 0, step.remaining, step.wait, step.reset, now],
      stored: state === undefined ? null : state.join(' '),
      ttl: written ? Math.floor((state![0]! - now) / 1000) + 2 : state === undefined ? -2 : -1,
    };
  });
}

/**
 * Runs the very script once for each question, all within one script call, in which no key expires: keys live by
 * Redis's clock, not by the injected moments, and a short one must not vanish between two questions.
 */
const REPLAY = `
local run = loadstring('local KEYS, ARGV = ... ' .. ARGV[1])
local width, results = tonumber(ARGV[2]), {}
for first = 3, #ARGV, width do
  local args = {}
  for i = 1, width do args[i] = ARGV[first + i - 1] end
  results[#results + 1] = { run(KEYS, args), redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]) }
  redis.call('PERSIST', KEYS[1])
end
redis.call('DEL', KEYS[1])
return results`;

async function twin(redis: Redis, rule: Rule, asked: readonly { now: number; question: Asked }[]) {
  const args = asked.flatMap(({ now, question: { operation, cost, maxWait, at } }) =>
    [
      now,
      rule.parameters.length,
      operation,
      cost,
      operation === 'refund' ? at : maxWait,
      ...rule.parameters,
    ].map(String),
  );
  const width = String(args.length / asked.length);
  const results = await redis.eval(
    REPLAY,
    1,
    uniqueName('twin'),
    rule.algorithm.script.source,
    width,
    ...args,
  );
  return (results as [number[], string | null, number][]).map(([reply, stored, ttl]) => ({
    reply,
    stored,
    ttl,
  }));
}

describe('what the script refuses by itself, before it writes', () => {
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(redisUrl());
  });
  afterAll(() => redis.disconnect());

  test.each(['-1', 'nan', 'inf', '-inf', '1.5', '', 'abc', '1e300', '9007199254740993'])(
    'a cost of %p',
    async (cost) => {
      for (const { script } of algorithms) {
        const key = uniqueName('refused');
        const args = ['', '3', 'consume', cost, '0', '1000', '1', '5000'];
        await expect(redis.eval(script.source, 1, key, ...args)).rejects.toThrow(/SLUICE not a whole number/);
        expect(await redis.exists(key)).toBe(0);
      }
    },
  );
});
