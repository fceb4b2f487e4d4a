import fc from 'fast-check';
import { Redis } from 'ioredis';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { sharedRateScript } from '../../../packages/core/src/stores/shared-rate.script.js';
import { redisUrl } from '../../support/redis-url.js';
import { histories, history, rates } from './shared-histories.js';
import { difference, loadReplay, replay } from './shared-replay.js';

/** The differential suite must find every mutant of the scripts' lines about shared rates. */
const corpus = fc
  .sample(fc.tuple(rates, histories), { numRuns: 500, seed: 7 })
  .map(([rate, questions]) => history(rate, questions));

interface Mutant {
  /** A line of the script, and its mutant. */
  readonly what: string;
  readonly source: string;
}

/** Inverted conditions, edges, clamps, text for numbers, omitted TTLs. */
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

/** Mutants that change no behaviour, and why. */
const EQUIVALENT: readonly (readonly [RegExp, string])[] = [
  [/#raw <= 32 /, 'a rate has 40 bytes'],
  [/'SLUICE /, 'shared-rates.test.ts tests refused arguments'],
  [/^if not \(value and /, 'shared-rates.test.ts tests refused numbers'],
  [
    /^(if #queue == 0 |if override == |reply_list\(key_state\.override )/,
    'a shared key has its own envelope, and no override',
  ],
  [/PTTL.* {2}→ {2}.*<= alive/, 'setting the same TTL again changes nothing'],
  [/math\.floor/, 'moments and times here are whole ms, except elapsed times'],
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
      const replies = await replay(redis, sha1, steps);
      const found = difference(steps, replies, performance.now() - started + 1);
      if (found === undefined) continue;
      // Try this history first from now on: it probably finds the neighbouring mutants, too.
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

test('the suite finds no difference in the original scripts', async () => {
  expect(await verdict({})).toBeUndefined();
}, 60_000);

test('the suite finds every mutant of shared-rate.lua', async () => {
  const mutants = mutantsOf(sharedRateScript.source);
  expect(await survivorsOf(mutants, (change) => ({ change }))).toEqual([]);
  expect(mutants.length).toBeGreaterThan(5);
}, 600_000);

test('the suite finds every mutant of decide.lua’s lines about shared rates', async () => {
  const mutants = mutantsOf(decideScript.source).filter(({ what }) =>
    /shared|rate_version|config|alive/.test(what),
  );
  expect(await survivorsOf(mutants, (decide) => ({ decide }))).toEqual([]);
  expect(mutants.length).toBeGreaterThan(0);
}, 600_000);
