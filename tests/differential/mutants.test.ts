import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { Policy } from '../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../packages/core/src/algorithms/index.js';
import { decideScript } from '../../packages/core/src/decisions/decide.script.js';
import { redisUrl } from '../support/redis-url.js';
import { equivalent } from './equivalent-mutants.js';
import { difference, held, history, questionsOf, rates, type Step } from './histories.js';
import { type Mutant, mutantsOf } from './mutants.js';
import { policies } from './policies.js';
import { replay, replayScript } from './replay.js';

/** Would the differential suite notice? Each slip that is made in the script must be found by it. */
const HISTORIES = 500;

interface Corpus {
  readonly keys: number;
  readonly steps: Step[];
}

/** Sets of policies before and after a deploy. */
type Sets = readonly (readonly Policy[])[];

const sampled = (sets: fc.Arbitrary<Sets>, operations: Parameters<typeof questionsOf>[0]): Corpus[] =>
  fc
    .sample(fc.tuple(sets, questionsOf(operations)), { numRuns: HISTORIES, seed: 7 })
    .map(([policies, questions]) => ({ keys: policies[0]!.length, steps: history(policies, questions) }));

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
corpora.set(undefined, [
  ...sampled(
    fc.array(fc.oneof(...Object.values(others)), { minLength: 1, maxLength: 3 }).map((set) => [set]),
    rates,
  ),
  ...sampled(one(concurrency!), held),
  ...sampled(
    fc.tuple(concurrency!, others.slidingLog!).map((set) => [set]),
    ['consume', 'acquire', 'refund'],
  ),
]);

let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl());
});
afterAll(() => redis.disconnect());

/** What the suite has against a script; undefined when it finds nothing wrong. */
async function verdict(source: string, corpus: readonly Corpus[]): Promise<string | undefined> {
  const sha1 = String(await redis.script('LOAD', replayScript(source)).catch((error: Error) => error));
  for (const { keys, steps } of corpus) {
    const started = performance.now();
    try {
      const told = await replay(
        redis,
        sha1,
        keys,
        steps.map(({ asked }) => asked),
      );
      const found = difference(steps, told, performance.now() - started + 1);
      if (found !== undefined) return found;
    } catch (error) {
      return String(error);
    }
  }
  return undefined;
}

test('the script itself is found to be right', async () => {
  for (const corpus of corpora.values()) expect(await verdict(decideScript.source, corpus)).toBeUndefined();
}, 120_000);

test('each slip in the script is found', async () => {
  const mutants = mutantsOf(decideScript.source);
  const survivors: Mutant[] = [];
  for (const mutant of mutants) {
    if (equivalent(mutant)) continue;
    if ((await verdict(mutant.source, corpora.get(mutant.tag)!)) === undefined) survivors.push(mutant);
  }
  expect(survivors.map(({ what, tag }) => `${tag ?? 'frame'}: ${what}`)).toEqual([]);
  expect(mutants.length).toBeGreaterThan(150);
}, 600_000);
