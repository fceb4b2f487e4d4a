import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import type { Operation } from '../../../packages/core/src/call/call.js';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
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
  taking,
} from './histories.js';
import { policies } from './policies.js';
import { replay, replayScript } from './replay.js';
import type { Runs } from './runs.js';

// Run by twins.test.ts and twins.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node twins.cjs <address of Redis> <runs> <seed> <subject>...
// Prints, as JSON, the kinds of answers seen for each subject; throws the first difference.

const { concurrency: semaphore, ...others } = policies;
const any = fc.oneof(...Object.values(others));

/** Policies before and after a deploy, and their operations. */
type Sets = readonly (readonly Policy[])[];
const one = (policy: fc.Arbitrary<Policy>): fc.Arbitrary<Sets> =>
  fc.tuple(policy, policy).map(([a, b]) => [[a], [b]]);
const once = (policies: fc.Arbitrary<readonly Policy[]>): fc.Arbitrary<Sets> => policies.map((set) => [set]);

/** In which histories each policy has an escalation: none, half or all. */
const subjects: Record<string, readonly [fc.Arbitrary<Sets>, readonly Operation[], ('all' | 'half')?]> = {
  ...Object.fromEntries(
    Object.entries(policies).map(([name, policy]) => [
      name,
      [one(policy), policy === semaphore ? held : rates],
    ]),
  ),
  'several policies at once': [once(fc.array(any, { minLength: 2, maxLength: 4 })), rates],
  'rates together with a concurrency limit': [
    once(
      fc
        .tuple(semaphore!, fc.array(any, { minLength: 1, maxLength: 2 }))
        .map(([first, rest]) => [first, ...rest]),
    ),
    [...taking, 'reset'],
    'half',
  ],
  'with an escalation': [fc.oneof(...Object.values(others).map(one)), denied, 'all'],
  'several policies with escalations': [once(fc.array(any, { minLength: 2, maxLength: 3 })), denied, 'all'],
  'concurrency with an escalation': [one(semaphore!), deniedHolders, 'all'],
};

async function compare(redis: Redis, sha1: string, name: string, runs: Runs): Promise<string[]> {
  const [sets, operations, escalates] = subjects[name]!;
  const cases = sets.chain((policies) => {
    const [none, some] = [fc.constant([]), escalationsOf(policies[0]!.length)];
    const escalations = escalates === undefined ? none : escalates === 'all' ? some : fc.oneof(none, some);
    return fc.tuple(fc.constant(policies), escalations);
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(cases, questionsOf(operations), async ([policies, escalations], questions) => {
      const steps = history(policies, questions, seen, escalations);
      const started = performance.now();
      const calls = steps.map((step) => step.timed);
      const replies = await replay(redis, sha1, keysOf(policies, escalations), calls);
      const found = difference(steps, replies, performance.now() - started + 1);
      if (found !== undefined) throw new Error(`${name}: ${found}`);
    }),
    runs,
  );
  return [...seen].sort();
}

async function main(url: string, runs: Runs, names: readonly string[]): Promise<void> {
  const redis = new Redis(url);
  try {
    const sha1 = String(await redis.script('LOAD', replayScript(decideScript.source)));
    const seen: Record<string, string[]> = {};
    for (const name of names) seen[name] = await compare(redis, sha1, name, runs);
    console.log(JSON.stringify(seen));
  } finally {
    redis.disconnect();
  }
}

const [url = '', runs = '', seed = '', ...names] = process.argv.slice(2);
void main(url, { numRuns: Number(runs), seed: Number(seed) }, names);
