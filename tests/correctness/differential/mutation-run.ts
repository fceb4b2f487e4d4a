import fc from 'fast-check';
import { Redis } from 'ioredis';
import { JITTER, type Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import type { Escalation } from '../../../packages/core/src/algorithms/escalate-options.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Operation } from '../../../packages/core/src/call/call.js';
import type { Booking } from '../../../packages/core/src/call/limit.js';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import {
  fixedWindow,
  gcra,
  concurrency as holding,
  slidingLog,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { randomFrom } from '../../support/random.js';
import { batchRuns, batchScript, compare } from './batch-runs.js';
import { idOf, isEquivalent, stale } from './equivalent-mutants.js';
import {
  denied,
  deniedHolders,
  difference,
  escalationsOf,
  held,
  history,
  keysOf,
  questionsOf,
  rates,
  type Step,
} from './histories.js';
import {
  holdDifference,
  holdHistory,
  holdScript,
  settledAsItsBeginLeaves,
  settledAtTheEnd,
} from './hold-histories.js';
import { mutantsOf } from './mutants.js';
import { policies } from './policies.js';
import { replay, replayScript } from './replay.js';

// Run by mutants.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node mutation-run.cjs <address of Redis>

/** Checks the differential suite: it must find every mutant of the script. */
const HISTORIES = 500;

interface Corpus {
  readonly keys: number;
  /** Decides the calls in TypeScript: few histories find most mutants, and the others are never decided. */
  steps(): Step[];
}

/** Sets of policies before and after a deploy. */
type Sets = readonly (readonly Policy[])[];

const sampled = (
  sets: fc.Arbitrary<Sets>,
  operations: Parameters<typeof questionsOf>[0],
  escalates = false,
): Corpus[] =>
  fc
    .sample(
      fc.tuple(
        sets.chain((policies) =>
          fc.tuple(fc.constant(policies), escalates ? escalationsOf(policies[0]!.length) : fc.constant([])),
        ),
        questionsOf(operations),
      ),
      { numRuns: HISTORIES, seed: 7 },
    )
    .map(([[policies, escalations], questions]) => ({
      keys: keysOf(policies, escalations),
      steps: () => history(policies, questions, undefined, escalations),
    }));

const one = (policy: fc.Arbitrary<Policy>): fc.Arbitrary<Sets> =>
  fc.tuple(policy, policy).map(([a, b]) => [[a], [b]]);

/** Histories by the tag of their algorithm, and of several policies at once for the frame. */
const corpora = new Map<string | undefined, Corpus[]>();
for (const [name, policy] of Object.entries(policies)) {
  const { tag } = compilePolicy(fc.sample(policy, 1)[0]!).algorithm;
  const more = sampled(one(policy), name === 'concurrency' ? held : rates);
  corpora.set(tag, [...(corpora.get(tag) ?? []), ...more]);
}
const { concurrency, ...others } = policies;
corpora.set('sl', [...corpora.get('sl')!, ...corpora.get('sw')!]);
const mixed = fc
  .array(fc.oneof(...Object.values(others)), { minLength: 2, maxLength: 3 })
  .map((set) => [set]);
const withHolders = fc.tuple(concurrency!, others.slidingLog!).map((set) => [set]);
corpora.set(undefined, [
  ...sampled(mixed, rates),
  ...[...corpora.values()].flat(),
  ...sampled(withHolders, ['consume', 'acquire', 'refund']),
  ...sampled(fc.oneof(...Object.values(others).map(one)), denied, true),
  ...sampled(mixed, denied, true),
  ...sampled(one(concurrency!), deniedHolders, true),
]);

/** Histories that chance seldom makes. They run first: most mutants that they find are found by no other. */
const crafted = (
  policy: Policy | readonly Policy[],
  ...calls: readonly (readonly [
    Operation,
    cost: number,
    more?: { given?: number; wait?: number; move?: number; booking?: Booking },
  ])[]
): Corpus => {
  const rules = [policy].flat();
  const questions = calls.map(([operation, cost, more]) => {
    return { move: 1_000, operation, cost, wait: 3_600_000_000, given: 0, policy: 0, ...more } as const;
  });
  return { keys: rules.length, steps: () => history([rules], questions) };
};

/** One permit, then denials after the given µs, of a process with the first escalation or with the second. */
const deniedAfter = (
  escalations: readonly Escalation[],
  ...moves: readonly (readonly [number, 0 | 1])[]
): Corpus => {
  const policy = fixedWindow({ limit: 1, window: '1m' });
  const sets = escalations.map(() => [policy]);
  const question = { operation: 'consume', cost: 1, wait: 0, given: 0 } as const;
  const questions = [[0, 0] as const, ...moves].map(([move, policy]) => ({ ...question, move, policy }));
  const both = escalations.map((one) => [one]);
  return { keys: keysOf(sets, both), steps: () => history(sets, questions, undefined, both) };
};
const long = [2, 5_000, 5_000, 50];
corpora.get(undefined)!.unshift(
  // At the moments at which the count expires and a denial no longer counts.
  deniedAfter([[2, 1_000, 1_000, 50], long], [0, 0], [1_000, 1]),
  deniedAfter([[3, 1_000, 1_000, 50], long], [0, 0], [500, 0], [500, 0]),
  // At the moment at which the other escalation forgives.
  deniedAfter(
    [
      [1, 1_000, 5_000, 50, 70],
      [1, 1_000, 1_000, 50, 70],
    ],
    [0, 0],
    [1_050, 1],
  ),
);

const LARGEST = Number.MAX_SAFE_INTEGER;
corpora
  .get('sl')!
  .unshift(
    crafted(slidingLog({ limit: 5, window: '1m' }), ['consume', 2], ['charge', LARGEST - 2], ['peek', 1]),
  );
// The third call is at the moment at which the first leaves the window.
corpora
  .get('sl')!
  .unshift(
    crafted(
      slidingLog({ limit: 2, window: '1m' }),
      ['consume', 1],
      ['consume', 1],
      ['consume', 1, { move: 60_000_000 - 1_000 }],
    ),
  );
// The first of two waiting calls takes all permits when the lease ends, so the second waits for a lease more.
corpora
  .get('cc')!
  .unshift(
    crafted(holding({ limit: 2, lease: '30s' }), ['consume', 2], ['acquire', 2], ['acquire', 1], ['peek', 1]),
  );
// Two waiting calls renew: each answer has the longest and the estimated wait.
corpora
  .get('cc')!
  .unshift(
    crafted(
      holding({ limit: 2, lease: '30s' }),
      ...[['consume', 2] as const, ['acquire', 2] as const, ['acquire', 1] as const],
      ...[['renew', 0, { given: 1 }] as const, ['renew', 0, { given: 2 }] as const],
    ),
  );
// A refund with a jittering clock: the bucket is full at the latest moment of the clock.
corpora
  .get('tb')!
  .unshift(
    crafted(
      gcra({ limit: 1, period: 1 }),
      ['consume', 1],
      ['refund', 1, { given: 1, move: -1 }],
      ['consume', 1, { move: 10 }],
    ),
  );
// Three calls wait for the same moment, and the call with a cost of 2 is cancelled.
corpora
  .get(undefined)!
  .unshift(
    crafted(
      fixedWindow({ limit: 6, window: '1m' }),
      ['consume', 6],
      ['acquire', 2],
      ['acquire', 3],
      ['acquire', 1],
      ['refund', 2, { given: 1 }],
    ),
  );

// Without the second part the first part could pass before the booking; with it, it passes after the booking.
corpora
  .get(undefined)!
  .unshift(
    crafted(
      [fixedWindow({ limit: 7, window: '1m' }), fixedWindow({ limit: 6, window: '1s' })],
      ['consume', 2],
      ['acquire', 6, { move: 0 }],
      ['acquire', 1, { move: 0 }],
    ),
  );

// The wait with the margin is as long as the call may wait.
corpora
  .get(undefined)!
  .unshift(
    crafted(
      fixedWindow({ limit: 1, window: '1m' }),
      ['consume', 1],
      ['acquire', 1, { wait: 60_999_000, booking: { margin: 1_000_000, gap: 0, maxWaiting: 10 } }],
    ),
  );

// One of two calls that wait for the same moment refunds a part; and a gap between two waiting calls.
corpora
  .get(undefined)!
  .unshift(
    crafted(
      fixedWindow({ limit: 6, window: '1m' }),
      ['consume', 6],
      ['acquire', 1],
      ['acquire', 3],
      ['refund', 2, { given: 1 }],
    ),
    crafted(
      fixedWindow({ limit: 6, window: '1m' }),
      ['consume', 6],
      ['acquire', 2],
      ['acquire', 1],
      ['acquire', 5],
      ['refund', 1, { given: 2 }],
      ['acquire', 3],
    ),
  );

// The booking in a second is there because of a block. A call delays no other if its window begins late, or after a window that has begun.
const SECOND = 1_000_000;
const until = (second: number) => ['block', 1, { move: 0, wait: second * SECOND }] as const;
const book = (cost: number) => ['acquire', cost, { move: 0 }] as const;
const look = (move: number) => ['peek', 1, { move }] as const;
for (const policy of [
  fixedWindow({ limit: 3, window: '10s' }),
  tokenBucket({ capacity: 3, refill: 3, every: '10s', mode: 'interval' }),
]) {
  corpora
    .get(undefined)!
    .unshift(
      crafted(
        policy,
        ...[until(20), book(1), until(28), book(1), book(3), until(0)],
        ...[look(12 * SECOND), look(6 * SECOND), look(1), look(1)],
      ),
      crafted(
        policy,
        ...[until(10), book(1), until(27), book(1), until(34), book(2), until(38), book(2), until(0)],
        ['refund', 1, { given: 1, move: 0 }],
        ...[look(12 * SECOND), look(8 * SECOND), look(4 * SECOND), look(1)],
      ),
    );
}

// A block that becomes longer, and one that stays. Last, so that the places below stay.
corpora
  .get(undefined)!
  .push(
    crafted(
      fixedWindow({ limit: 3, window: '10s' }),
      ['extend-block', 1, { wait: 20 * SECOND }],
      ['extend-block', 1, { wait: 10 * SECOND }],
      ['consume', 1],
      ['extend-block', 1, { wait: 30 * SECOND }],
      ['consume', 1],
    ),
  );

// A refund after the clock stepped back as far as it may jitter. Last, so that the places below stay.
for (const tag of ['sl', undefined])
  corpora
    .get(tag)!
    .push(
      crafted(
        slidingLog({ limit: 2, window: '1m' }),
        ['consume', 1],
        ['refund', 1, { move: -JITTER }],
        ['consume', 2],
      ),
    );

const redis = new Redis(process.argv[2]!);

/** Makes a value when it is first used. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The first difference of a script; `replayed`, `batched` and `holding` are its ways to run. */
type Trial = (replayed: string, batched: string, holding: string) => Promise<string | undefined>;

const trialOf = ({ keys, steps: make }: Corpus): Trial => {
  const steps = once(make);
  return async (replayed) => {
    const calls = steps().map((step) => step.timed);
    const started = performance.now();
    const replies = await replay(redis, replayed, keys, calls);
    return difference(steps(), replies, performance.now() - started + 1);
  };
};

/** The first difference of calls in one batch. */
const trialsOfBatches = fc.sample(batchRuns, { numRuns: HISTORIES, seed: 7 }).map(
  (run): Trial =>
    (_, batched) =>
      compare(redis, batched, run).then(() => undefined),
);

/** Holds that chance seldom makes. */
const CRAFTED = [
  () => settledAtTheEnd('first-hit'),
  () => settledAtTheEnd('clock'),
  () => settledAsItsBeginLeaves(),
];

/** The first difference of holds. */
const trialsOfHolds = Array.from({ length: HISTORIES / 5 }, (_, run): Trial => {
  const steps = once(() => CRAFTED[run]?.() ?? holdHistory(randomFrom(run), 40, new Set()));
  return (_replayed, _batched, holding) => holdDifference(redis, holding, steps());
});
const trialsOfHistories = new Map([...corpora.values()].flat().map((one) => [one, trialOf(one)]));

/**
 * Places of trials that alone, or first, find a mutant. They run before the others, which saves four of five minutes. A place that is out of
 * date costs time, and nothing else.
 */
const SHARP: Readonly<Record<string, readonly number[]>> = {
  frame: [8836, 8772, 8512, 6220, 533, 513, 383, 235, 203, 187, 141, 69, 36],
  fw: [2503, 2501, 2500, 2065, 1012, 542, 501],
  tb: [2242, 1521, 1510, 525, 502, 423, 348, 118],
  sl: [1532, 1526, 1504, 1373, 504, 205],
  cc: [322, 47],
};
const trials = new Map(
  [...corpora].map(([tag, corpus]) => {
    const ofHistories = corpus.map((one) => trialsOfHistories.get(one)!);
    // A hold is settled in the window in which it began, and gives back the newest permits of a log.
    const holds = tag === 'fw' || tag === 'sl' ? trialsOfHolds : [];
    const all = [...ofHistories, ...trialsOfBatches, ...holds];
    const sharp = (SHARP[tag ?? 'frame'] ?? []).flatMap((place) => all[place] ?? []);
    return [tag, [...new Set([...sharp, ...all])]];
  }),
);
for (const tag of ['hd', 'hold']) trials.set(tag, [...trialsOfHolds]);

/** Trials that found a mutant. */
const finders = new Set<Trial>();

/** The first difference that the suite finds in a script; undefined without one. */
async function verdict(source: string, all: Trial[]): Promise<string | undefined> {
  const load = (script: string) => redis.script('LOAD', script).then(String, (error: Error) => String(error));
  const [replayed, batched] = [await load(replayScript(source)), await load(batchScript(source))];
  const holding = await load(holdScript(source));
  for (const [i, trial] of all.entries()) {
    const found = await trial(replayed, batched, holding).catch(String);
    if (found === undefined) continue;
    finders.add(trial);
    // Try this history first from now on: it probably finds the neighbouring mutants, too.
    all.unshift(...all.splice(i, 1));
    return found;
  }
  return undefined;
}

async function main(): Promise<void> {
  const mutants = mutantsOf(decideScript.source);
  const survivors: string[] = [];
  for (const mutant of mutants) {
    if (isEquivalent(mutant)) continue;
    if ((await verdict(mutant.source, trials.get(mutant.tag)!)) !== undefined) continue;
    survivors.push(`${mutant.line}  →  ${idOf(mutant)}`);
  }
  // What found a mutant must find nothing in the original. twins.deep.test.ts and the others compare the original in other histories.
  const wrong = await verdict(decideScript.source, [...finders]);
  redis.disconnect();
  console.log(
    JSON.stringify({
      wrong: wrong === undefined ? [] : [wrong],
      survivors,
      stale: stale(mutants),
      mutants: mutants.length,
    }),
  );
}

void main();
