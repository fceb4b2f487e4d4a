import fc from 'fast-check';
import { Redis } from 'ioredis';
import { decideScript } from '../../packages/core/src/decisions/decide.script.js';
import { sharedRateScript } from '../../packages/core/src/shared-rates/shared-rate.script.js';
import { redisUrl } from '../support/redis-url.js';
import { type Mutant, mutantsOf } from './mutants.js';
import { histories, history, rates } from './shared-histories.js';
import { difference, loadReplay, replay } from './shared-replay.js';

/** Would the differential suite notice? Each slip that is made in what is said of shared rates must be found by it. */
const corpus = fc
  .sample(fc.tuple(rates, histories), { numRuns: 500, seed: 7 })
  .map(([rate, questions]) => history(rate, questions));

/** No slip, for the reason given. */
const EQUIVALENT: readonly (readonly [RegExp, string])[] = [
  [/^if #raw < 32 /, 'a rate has 40 bytes'],
  [/string\.format\('%\.0f', .*tostring/, 'a TTL has twelve digits, and tostring writes fourteen'],
  [/^if #queue > 0 or /, 'what is shared has its envelope in any case'],
  [/value <= 9007199254740991/, 'no time and no number is that large'],
];
/** Conditions turned round, besides the slips that are looked for everywhere. */
const SLIPS: readonly (readonly [string, string])[] = [
  [' == ', ' ~= '],
  [' ~= ', ' == '],
  [' and ', ' or '],
  ['not before', 'before'],
];
const turned = (source: string): Mutant[] =>
  source.split('\n').flatMap((line, i, lines) =>
    SLIPS.filter(([from]) => line.includes(from)).map(([from, to]) => {
      const changed = line.replace(from, to);
      const text = [...lines.slice(0, i), changed, ...lines.slice(i + 1)].join('\n');
      return { what: `${line}  →  ${changed}`, tag: undefined, source: text };
    }),
  );

const counts = ({ what }: Mutant) => !EQUIVALENT.some(([line]) => line.test(what));

let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl());
});
afterAll(() => redis.disconnect());

async function verdict(sources: Parameters<typeof loadReplay>[1]): Promise<string | undefined> {
  try {
    const sha1 = await loadReplay(redis, sources);
    for (const steps of corpus) {
      const started = performance.now();
      const told = await replay(redis, sha1, steps);
      const found = difference(steps, told, performance.now() - started + 1);
      if (found !== undefined) return found;
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
  const { source } = sharedRateScript;
  const mutants = [...mutantsOf(source), ...turned(source)].filter(counts);
  expect(await survivorsOf(mutants, (change) => ({ change }))).toEqual([]);
  expect(mutants.length).toBeGreaterThan(10);
}, 600_000);

test('each slip in what decide.lua does for shared rates is found', async () => {
  const mutants = mutantsOf(decideScript.source).filter(
    (mutant) => counts(mutant) && /shared|cleared_at|enveloped|config|alive/.test(mutant.what),
  );
  expect(await survivorsOf(mutants, (decide) => ({ decide }))).toEqual([]);
  expect(mutants.length).toBeGreaterThan(0);
}, 600_000);
