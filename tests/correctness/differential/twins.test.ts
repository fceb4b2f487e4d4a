import { Redis } from 'ioredis';
import { JITTER, type Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import {
  fixedWindow,
  gcra,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { redisUrl } from '../../support/redis-url.js';
import { difference, history } from './histories.js';
import { guarded } from './mutants.js';
import { HOUR } from './policies.js';
import { replay, replayScript } from './replay.js';
import { QUICK_RUNS, QUICK_SEED } from './runs.js';
import { compareTwins, expectedAnswers, RARE_ANSWER, subjects } from './twins-check.js';

let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl());
});
afterAll(() => redis.disconnect());

test(`Lua answers as TypeScript does, over ${QUICK_RUNS} histories of each kind`, async () => {
  const seen = await compareTwins(subjects, QUICK_RUNS, QUICK_SEED);
  const expected = subjects.map((subject) => [
    subject,
    expect.arrayContaining(expectedAnswers(subject, false)),
  ]);
  expect(seen).toEqual(Object.fromEntries(expected));
  expect(Object.values(seen).flat()).toContain(RARE_ANSWER);
}, 120_000);

test('both agree on the largest penalty with a jittering clock', async () => {
  const question = { operation: 'peek', move: 0, cost: 1, wait: 0, given: 0, policy: 0 } as const;
  for (const policy of [
    gcra({ limit: 328, period: 1 }),
    tokenBucket({ capacity: 7, refill: 1e9, every: 1, mode: 'interval' }),
  ]) {
    const steps = history(
      [[policy]],
      [
        { ...question, operation: 'charge', cost: 1e14 },
        { ...question, operation: 'refund', cost: 6, move: -6_313 },
        { ...question, operation: 'peek', move: 1 },
        { ...question, operation: 'charge', cost: 3, move: 9_000 },
        { ...question, operation: 'refund', cost: 8, move: -9_999 },
      ],
    );
    await expectTwins(steps);
  }
});

test('both return what was taken just before the clock stepped back by 10 ms', async () => {
  const question = { move: 0, cost: 2, wait: 0, given: 0, policy: 0 } as const;
  for (const policy of [
    fixedWindow({ limit: 2, window: '1m' }),
    gcra({ limit: 2, period: '1m' }),
    slidingLog({ limit: 2, window: '1m' }),
    slidingWindow({ limit: 2, window: '1m', slots: 6 }),
  ]) {
    const steps = history(
      [[policy]],
      [
        { ...question, operation: 'consume' },
        { ...question, operation: 'refund', move: -JITTER },
        { ...question, operation: 'consume', move: JITTER },
      ],
    );
    expect(steps.map(({ expected }) => expected.answer.allowed)).toEqual([true, true, true]);
    await expectTwins(steps);
  }
});

test('both agree on an override that begins empty while a call waits beyond the capacity', async () => {
  const bucket = { capacity: 1, refill: 1, every: 1, waitBeyondCapacity: true } as const;
  const question = { move: 0, cost: 0, wait: 1, given: 0, policy: 0 } as const;
  const steps = history(
    [[tokenBucket(bucket)], [tokenBucket({ ...bucket, initial: 0 })]],
    [
      { ...question, operation: 'acquire', cost: 2, wait: 36e9 },
      { ...question, operation: 'override' },
      { ...question, operation: 'consume' },
    ],
  );
  await expectTwins(steps);
});

test('a booking in an empty queue starts from the state or from none, not from earlier bookings', async () => {
  const bucket = { capacity: 2, refill: 1, every: 1, mode: 'interval', initial: 1 } as const;
  const question = { move: 0, cost: 2, wait: 36e9, given: 0, policy: 0 } as const;
  const policies = [
    tokenBucket({ ...bucket, waitBeyondCapacity: true }),
    slidingWindow({ limit: 2, window: 1, slots: 1 }),
  ];
  const steps = history(
    [policies],
    [
      { ...question, operation: 'acquire' },
      { ...question, operation: 'charge', cost: 86_399_998 }, // full a day later, when the key may be forgotten
      { ...question, operation: 'acquire', move: { to: 'reset', off: 0 }, wait: 2000 },
    ],
  );
  await expectTwins(steps, { keys: 2 });
});

test('a key whose state ends at the moment of the call, but is still stored, begins again', async () => {
  const question = { operation: 'acquire', cost: 8, wait: 1_000, given: 0, policy: 0 } as const;
  const bucket = tokenBucket({ capacity: 17, refill: 197, every: 1.625, initial: 3 });
  const steps = history(
    [[bucket]],
    [
      { ...question, move: 0 },
      { ...question, move: 24 * HOUR + 42 },
    ],
  );
  expect(steps.map(({ expected }) => expected.answer.parts[0])).toMatchObject([
    { reset: 182 },
    { reset: 182 },
  ]);
  await expectTwins(steps);
});

test('the search for a free moment ends, also when no gap between bookings fits', async () => {
  const batches = { every: '1s', mode: 'interval' } as const;
  const question = { move: 0, cost: 1, wait: 10_000_000, given: 0, policy: 0 } as const;
  // After a deploy the second booking has a cost above the capacity. Units that are late fill the new bucket, whose ticks stay.
  const steps = history(
    [
      [tokenBucket({ ...batches, capacity: 100, refill: 100 })],
      [tokenBucket({ ...batches, capacity: 10, refill: 10 })],
    ],
    [
      { ...question, operation: 'consume' },
      { ...question, operation: 'block', wait: 1_000_000 },
      { ...question, operation: 'acquire' },
      { ...question, operation: 'acquire', cost: 20 },
      { ...question, operation: 'block', wait: 0 },
      { ...question, operation: 'peek', policy: 1, move: 1 },
      { ...question, operation: 'acquire', policy: 1 },
    ],
  );
  await expectTwins(steps, { source: guarded(decideScript.source) });
});

test('a block is extended, and stays if it ends later', async () => {
  const question = { move: 1_000, cost: 1, given: 0, policy: 0 } as const;
  const calls = [
    ['extend-block', 20_000_000],
    ['extend-block', 10_000_000],
    ['consume', 0],
    ['extend-block', 30_000_000],
    ['consume', 0],
    ['extend-block', 0],
    ['consume', 0],
  ] as const;
  const steps = history(
    [[fixedWindow({ limit: 3, window: '10s' })]],
    calls.map(([operation, wait]) => ({ ...question, operation, wait })),
  );
  const waits = steps.map(({ expected }) => expected.answer.wait);
  expect(waits).toEqual([0, 0, 19_998_000, 0, 29_999_000, 0, 29_997_000]);
  await expectTwins(steps);
});

/** Runs the calls of `steps` in the script and compares its answers with those of TypeScript. */
async function expectTwins(
  steps: ReturnType<typeof history>,
  { source = decideScript.source, keys = 1 } = {},
): Promise<void> {
  const sha1 = String(await redis.script('LOAD', replayScript(source)));
  const calls = steps.map((step) => step.timed);
  expect(difference(steps, await replay(redis, sha1, keys, calls), 60_000)).toBeUndefined();
}

describe('decide.lua refuses, before it writes', () => {
  const numbers = ['-2', 'nan', 'inf', '-inf', '1.5', '', 'abc', '1e300', '9007199254740993'];
  const rule = compilePolicy({ algorithm: 'slidingLog', limit: 5, window: 1000 } as Policy);
  const { tag } = rule.algorithm;
  /** Both forms of the arguments: one group for all keys, and a group for each key. */
  const lines = (cost: string, parameter = '5') => [
    ['', cost, '1', tag, parameter, '1000000'],
    ['', '', '1', tag, '2', parameter, '1000000', '1', '1', cost, '1'],
  ];

  test.each(numbers)('%p as a cost or a parameter', async (number) => {
    for (const args of [...lines(number), ...lines('1', number)]) {
      await expect(redis.eval(decideScript.source, 1, 'refused', ...args)).rejects.toThrow(
        /SLUICE not a whole number|attempt to perform arithmetic/,
      );
      expect(await redis.exists('refused')).toBe(0);
    }
  });

  test('a key with a foreign value', async () => {
    await redis.set('foreign', 'hello');
    for (const args of lines('1')) {
      expect(await redis.eval(decideScript.source, 1, 'foreign', ...args)).toEqual([
        expect.any(Number),
        -2,
        expect.stringContaining('SLUICE foreign value in foreign'),
      ]);
    }
    expect(await redis.get('foreign')).toBe('hello');
    await redis.del('foreign');
  });
});
