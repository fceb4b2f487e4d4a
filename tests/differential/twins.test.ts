import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { Policy } from '../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../packages/core/src/algorithms/index.js';
import { decideScript } from '../../packages/core/src/decisions/decide.script.js';
import { redisUrl } from '../support/redis-url.js';
import { difference, held, history, type Question, questionsOf, rates, taking } from './histories.js';
import { policies } from './policies.js';
import { replay, replayScript } from './replay.js';

/**
 * Everything that decides exists twice: in TypeScript and in Lua. Here both are asked the same random questions at the same
 * injected moments, and every answer and every stored byte must be the same, every TTL to the millisecond.
 */
const RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? 3_000);

let redis: Redis;
let sha1: string;
beforeAll(async () => {
  redis = new Redis(redisUrl());
  sha1 = String(await redis.script('LOAD', replayScript(decideScript.source)));
});
afterAll(() => redis.disconnect());

async function agree(
  sets: readonly (readonly Policy[])[],
  questions: readonly Question[],
  seen: Set<string>,
) {
  const steps = history(sets, questions, seen);
  const started = performance.now();
  const told = await replay(
    redis,
    sha1,
    sets[0]!.length,
    steps.map(({ asked }) => asked),
  );
  expect(difference(steps, told, performance.now() - started + 1)).toBeUndefined();
}

/** The histories were worth their while: every kind of answer came up. */
const ALWAYS = ['consume', 'acquire', 'peek', 'denied', 'never', 'returned', 'clock back', 'block', 'reset'];

test.each(Object.keys(policies))(
  `%s: the Lua twin answers as TypeScript does, over ${RUNS} random histories`,
  async (name) => {
    const seen = new Set<string>();
    const policy = policies[name]!;
    const questions = questionsOf(name === 'concurrency' ? held : rates);
    await fc.assert(
      fc.asyncProperty(policy, policy, questions, (before, after, asked) =>
        agree([[before], [after]], asked, seen),
      ),
      { numRuns: RUNS },
    );
    expect([...seen]).toEqual(
      expect.arrayContaining([...ALWAYS, name === 'concurrency' ? 'queued' : 'booked']),
    );
  },
  600_000,
);

test(`several policies at once: the same, over ${RUNS} random histories`, async () => {
  const seen = new Set<string>();
  const { concurrency: _, ...others } = policies;
  const set = fc.array(fc.oneof(...Object.values(others)), { minLength: 2, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(set, questionsOf(rates), (mixed, asked) => agree([mixed], asked, seen)),
    { numRuns: RUNS },
  );
  expect([...seen]).toEqual(expect.arrayContaining([...ALWAYS, 'booked']));
}, 600_000);

test(`rates together with a concurrency limit: the same, over ${RUNS} random histories`, async () => {
  const seen = new Set<string>();
  const { concurrency: semaphore, ...others } = policies;
  const set = fc
    .tuple(semaphore!, fc.array(fc.oneof(...Object.values(others)), { minLength: 1, maxLength: 2 }))
    .map(([first, rest]) => [first, ...rest]);
  await fc.assert(
    fc.asyncProperty(set, questionsOf([...taking, 'reset']), (mixed, asked) => agree([mixed], asked, seen)),
    { numRuns: RUNS },
  );
  expect([...seen]).toEqual(expect.arrayContaining(['consume', 'denied', 'returned']));
}, 600_000);

describe('what the script refuses by itself, before it writes', () => {
  const numbers = ['-2', 'nan', 'inf', '-inf', '1.5', '', 'abc', '1e300', '9007199254740993'];
  const rule = compilePolicy({ algorithm: 'slidingLog', limit: 5, window: 1000 } as Policy);
  const line = (cost: string, parameter = '5') => [
    ...['', 'consume', '0', '1', rule.algorithm.tag, cost, '0', '2', parameter, '1000000'],
  ];

  test.each(numbers)('a cost or a parameter of %p', async (number) => {
    for (const args of [line(number), line('1', number)]) {
      await expect(redis.eval(decideScript.source, 1, 'refused', ...args)).rejects.toThrow(
        /SLUICE not a whole number/,
      );
      expect(await redis.exists('refused')).toBe(0);
    }
  });

  test('a key that holds something else', async () => {
    await redis.set('foreign', 'hello');
    await expect(redis.eval(decideScript.source, 1, 'foreign', ...line('1'))).rejects.toThrow(
      /SLUICE foreign value/,
    );
    expect(await redis.get('foreign')).toBe('hello');
    await redis.del('foreign');
  });
});
