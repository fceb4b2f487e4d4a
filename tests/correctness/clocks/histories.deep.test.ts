import fc from 'fast-check';
import { JITTER } from '../../../packages/core/src/algorithms/algorithm.js';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { START } from '../../support/timeline.js';
import { difference, held, history, questionsOf, rates } from '../differential/histories.js';
import { policies } from '../differential/policies.js';
import { replay, replayScript } from '../differential/replay.js';
import { type Key, memorySide, persistentRedisSide, type RedisSide, type Side } from './sides.js';
import { DAY, HOUR, LIMIT, SECOND, type Subject, subjects, YEAR } from './subjects.js';

const RUNS = Number(process.env.SLUICE_CLOCK_RUNS ?? 15);

let memory: Side;
let redis: RedisSide;
beforeAll(() => {
  memory = memorySide();
  redis = persistentRedisSide();
});
afterAll(() => Promise.all([memory.close(), redis.close()]));

/** How far a clock jumps: a usual unit, anything up to two hours, or no more than its jitter. */
const jump = fc.oneof(
  fc.constantFrom(SECOND, -SECOND, HOUR, -HOUR, DAY, -DAY, 10 * YEAR, -10 * YEAR),
  fc.integer({ min: -2 * HOUR, max: 2 * HOUR }),
  fc.integer({ min: -JITTER, max: JITTER }),
);
/** Jumps of years in a history: Redis can still represent the time after two. */
const JUMPS = 2;

const stepsOf = (window: number, operations: readonly ('consume' | 'peek' | 'refund')[]) =>
  fc.array(
    fc.record({
      pass: fc.oneof(fc.constant(0), fc.nat(Math.floor(window / 4))),
      jumps: fc.option(jump, { freq: 8, nil: 0 }),
      operation: fc.constantFrom(...operations),
      cost: fc.integer({ min: 1, max: LIMIT }),
    }),
    { minLength: 5, maxLength: 40, size: 'max' },
  );

const either = (window: number) =>
  fc.oneof(stepsOf(window, ['consume', 'peek']), stepsOf(window, ['consume', 'consume', 'refund']));
type Step = ReturnType<typeof either> extends fc.Arbitrary<(infer S)[]> ? S : never;

/** Runs one history of one key. A history with refunds has no count to check: refunded permits were used before. */
async function runHistory(key: Key, steps: readonly Step[], { window, most }: Subject): Promise<void> {
  const counts = steps.every(({ operation }) => operation !== 'refund');
  const taken: { at: number; cost: number }[] = [];
  let [real, wrong, jumped, spent] = [0, 0, 0, 0];
  for (const { pass, jumps, operation, cost } of steps) {
    real += pass;
    if (jumps !== 0 && (Math.abs(jumps) < YEAR || jumped < JUMPS)) {
      wrong += jumps;
      jumped += 1;
    }
    const now = START + real + wrong;
    const back = operation === 'refund' ? taken.pop() : undefined;
    if (operation === 'refund' && back === undefined) continue;
    const { allowed, parts } = await key.ask(now, { operation, cost, ...back });
    if (operation === 'consume' && allowed) {
      taken.push({ at: parts[0]!.at, cost });
      spent += cost;
    }
    if (counts) expect(spent).toBeLessThanOrEqual(most(real) + LIMIT * jumped);
    expect(parts[0]!.remaining).toBeLessThanOrEqual(LIMIT);
    const { wait } = await key.ask(now, { operation: 'peek', cost: LIMIT });
    expect(wait).toBeGreaterThanOrEqual(0);
    expect(wait).toBeLessThanOrEqual(window + JITTER);
  }
}

test.each(Object.entries(subjects))(
  '%s: each clock jump admits at most one limit more and locks out for at most a window',
  async (_, subject) => {
    const { policy, window } = subject;
    await fc.assert(
      fc.asyncProperty(either(window), async (steps) => {
        await runHistory(memory.key(policy), steps, subject);
        await runHistory(redis.key(policy), steps, subject);
      }),
      { numRuns: RUNS },
    );
  },
  120_000,
);

/** Every operation, with bookings, blocks and overrides, by policies of every scale. */
test.each(Object.entries(policies))(
  '%s: Lua and TypeScript store the same bytes for every operation while the clock jumps',
  async (name, policy) => {
    const sha1 = String(await redis.redis.script('LOAD', replayScript(decideScript.source)));
    const operations = name === 'concurrency' ? held : rates;
    const jumping = fc.array(fc.option(jump, { freq: 4, nil: undefined }), { minLength: 20, maxLength: 20 });
    const property = fc.asyncProperty(
      policy,
      questionsOf(operations),
      jumping,
      async (one, questions, jumps) => {
        let far = 0;
        const moved = questions.map((question, i) => {
          const by = jumps[i];
          if (by === undefined || (Math.abs(by) >= YEAR && far >= JUMPS)) return question;
          far += Math.abs(by) >= YEAR ? 1 : 0;
          return { ...question, move: by, policy: 0 as const };
        });
        const steps = history([[one]], moved);
        const started = performance.now();
        const replies = await replay(
          redis.redis,
          sha1,
          1,
          steps.map((step) => step.timed),
        );
        expect(difference(steps, replies, performance.now() - started + 1)).toBeUndefined();
      },
    );
    await fc.assert(property, { numRuns: 4 * RUNS });
  },
  120_000,
);
