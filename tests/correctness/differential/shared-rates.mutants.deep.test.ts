import fc from 'fast-check';
import { Redis } from 'ioredis';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { sharedRateScript } from '../../../packages/core/src/stores/shared-rate.script.js';
import { redisUrl } from '../../support/redis-url.js';
import { histories, history, rates } from './shared-histories.js';
import { difference, loadReplay, replay } from './shared-replay.js';

/** Would the differential suite notice? Each slip that is made in what is said of shared rates must be found by it. */
const corpus = fc
  .sample(fc.tuple(rates, histories), { numRuns: 500, seed: 7 })
  .map(([rate, questions]) => history(rate, questions));

interface Mutant {
  /** A line of the script, and what became of it. */
  readonly what: string;
  readonly source: string;
}

/** Conditions turned round, edges, clamps, text for numbers, TTLs left out. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/ == /, ' ~= '],
  [/ ~= /, ' == '],
  [/ and /, ' or '],
  [/not before/, 'before'],
  [/ > /, ' >= '],
  [/ >= /, ' > '],
  [/ < /, ' <= '],
  [/ < /, ' > '],
  [/math\.max/, 'math.min'],
  [/math\.ceil/, 'math.floor'],
  [/, 'PX', .*$/, ')'],
  [/^(.*)(redis\.)?call\('PEXPIRE', .*\)( end)?$/, '$1local _ = 0$3'],
];

/** What is no slip, and why. */
const EQUIVALENT: readonly (readonly [RegExp, string])[] = [
  [/#raw <= 32 /, 'a rate has 40 bytes'],
  [/'SLUICE /, 'what is refused is tested by hand'],
  [/^if not \(value and /, 'numbers that are refused are tested by hand'],
  [
    /^(if #queue == 0 |if override == |reply_list\(key_state\.override )/,
    'what is shared has its envelope, and no override',
  ],
  [/PTTL.* {2}→ {2}.*<= alive/, 'a TTL that it has may be set again'],
  [/math\.floor/, 'moments and times here are whole ms, apart from what has passed'],
];

const mutantsOf = (source: string): Mutant[] =>
  source.split('\n').flatMap((line, i, lines) =>
    SLIPS.filter(([slip]) => slip.test(line))
      .map(([slip, to]) => line.replace(slip, to))
      .map((changed) => ({
        what: `${line}  →  ${changed}`,
        source: [...lines.slice(0, i), changed, ...lines.slice(i + 1)].join('\n'),
      }))
      .filter(({ what }) => !EQUIVALENT.some(([line]) => line.test(what))),
  );

let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl());
});
afterAll(() => redis.disconnect());

async function verdict(sources: Parameters<typeof loadReplay>[1]): Promise<string | undefined> {
  try {
    const sha1 = await loadReplay(redis, sources);
    for (const [i, steps] of corpus.entries()) {
      const started = performance.now();
      const told = await replay(redis, sha1, steps);
      const found = difference(steps, told, performance.now() - started + 1);
      if (found === undefined) continue;
      // What finds one mutant finds most of its neighbours: it is tried first from now on.
      corpus.unshift(...corpus.splice(i, 1));
      return found;
    }
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const survivorsOf = async (
  mutants: readonly Mutant[],
  sources: (source: string) => Parameters<typeof loadReplay>[1],
) => {
  const survivors: string[] = [];
  for (const { what, source } of mutants) {
    if ((await verdict(sources(source))) === undefined) survivors.push(what);
  }
  return survivors;
};

test('the scripts themselves are found to be right', async () => {
  expect(await verdict({})).toBeUndefined();
}, 60_000);

test('each slip in shared-rate.lua is found', async () => {
  const mutants = mutantsOf(sharedRateScript.source);
  expect(await survivorsOf(mutants, (change) => ({ change }))).toEqual([]);
  expect(mutants.length).toBeGreaterThan(5);
}, 600_000);

test('each slip in what decide.lua does for shared rates is found', async () => {
  const mutants = mutantsOf(decideScript.source).filter(({ what }) =>
    /shared|rate_version|config|alive/.test(what),
  );
  expect(await survivorsOf(mutants, (decide) => ({ decide }))).toEqual([]);
  expect(mutants.length).toBeGreaterThan(0);
}, 600_000);
