import process from 'node:process';
import type { UsageKeys } from '@sluice/core';
import { HASH_LENGTH, publishedHost, VERSION } from '@sluice/core/internal';
import { hashCounted } from './counted-key.js';
import { SAMPLE, type SampleSummary } from './key-sample.js';
import { heaviest } from './merge.js';
import { RESULTS, type ResultCounts } from './result-slots.js';
import { sampleSize, sampleText } from './sample-text.js';
import { CAPACITY, type Counted, RECENT_KEYS, type Summary } from './summary.js';
import { LISTS, type ListName, type StoreUsageSummary, type UsageSummary } from './usage-summary.js';

/** Raised when an older reader would misread a text. */
export const FORM = 1;

/** Characters of a text. With many limiters each has fewer keys, and larger errors. The counts of all limiters take 240,000 at most. */
const MOST_CHARACTERS = 256_000;

/** Two quotes and three commas. */
const PUNCTUATION = 5;
/** The place of a policy, and a comma. */
const PLACE = 4;

/** Writes the text of a process, again and again. Empty parts are left out. `parse-usage.ts` reads it. */
export class UsageWriter {
  /** Hashes of the last text: most keys are in the next one, too. */
  #hashes: ReadonlyMap<string, string> = new Map();

  constructor(readonly keys: UsageKeys) {}

  write(usage: StoreUsageSummary): string {
    const bare = JSON.stringify(this.#text(usage, 0, String)).length;
    const lists = usage.limiters.flatMap((limiter) =>
      LISTS.map((name) => ({ name, sizes: limiter[name].entries.map((entry) => this.#size(entry)) })),
    );
    const samples = usage.limiters.flatMap(({ keyUse, shadowKeyUse }) =>
      [keyUse ?? [], shadowKeyUse ?? []].flat(),
    );
    const sizeOfSamples = (keys: number) =>
      samples.reduce((sum, sample) => sum + sampleSize(sample, sampledOf(keys)), 0);
    const sizeOfNames = (keys: number) =>
      usage.limiters.reduce((sum, limiter) => sum + sizeOfPolicies(limiter, keys), 0);
    let most = CAPACITY;
    const sizeWith = (keys: number) => bare + sizeOf(lists, keys) + sizeOfNames(keys) + sizeOfSamples(keys);
    while (most > 0 && sizeWith(most) > MOST_CHARACTERS) most >>= 1;
    const hashes = new Map<string, string>();
    const shown = (key: string) => {
      if (this.keys === 'plain') return key;
      const hash = this.#hashes.get(key) ?? hashCounted(key);
      hashes.set(key, hash);
      return hash;
    };
    const text = JSON.stringify(this.#text(usage, most, shown));
    this.#hashes = hashes;
    return text;
  }

  /** At least the characters of an entry in the text. */
  #size({ key, count, error, policy }: Counted): number {
    const length = this.keys === 'plain' ? key.length : key.lastIndexOf(' ') + 1 + HASH_LENGTH;
    return (
      length + String(count).length + String(error).length + PUNCTUATION + (policy === undefined ? 0 : PLACE)
    );
  }

  #text({ slotAge, limiters }: StoreUsageSummary, most: number, shown: (key: string) => string) {
    const list = (name: ListName, summary: Summary) => {
      if (summary.total === 0) return {};
      const { entries, total, unlisted } = heaviest(summary, listedOf(name, most));
      return {
        [name]: {
          total,
          unlisted,
          keys: entries.flatMap(({ key, count, error }) => [shown(key), count, error]),
          ...policiesOf(entries),
        },
      };
    };
    const sampled = (name: 'keyUse' | 'shadowKeyUse', sample: SampleSummary | undefined) =>
      sample === undefined || sample.hashes.length === 0
        ? {}
        : { [name]: sampleText(sample, sampledOf(most)) };
    return {
      form: FORM,
      version: VERSION,
      host: publishedHost(),
      pid: process.pid,
      keys: this.keys,
      slotAge,
      limiters: limiters.map((one) => ({
        name: one.name,
        span: one.span,
        ...Object.assign({}, ...LISTS.map((name) => list(name, one[name]))),
        ...sampled('keyUse', one.keyUse),
        ...sampled('shadowKeyUse', one.shadowKeyUse),
        enforce: countsText(one.enforce),
        shadow: countsText(one.shadow),
      })),
    };
  }
}

/** Sampled keys of a limiter, when each of its lists has `listed` keys. With fewer than 64, the figures would say little. */
const sampledOf = (listed: number): number => Math.max(64, (SAMPLE / CAPACITY) * listed);

/** Keys of a list, when the longest lists have `most`: the list of one minute needs fewer. */
const listedOf = (list: ListName, most: number): number =>
  list === 'recentlyDenied' ? Math.ceil((RECENT_KEYS / CAPACITY) * most) : most;

const sizeOf = (
  lists: readonly { readonly name: ListName; readonly sizes: readonly number[] }[],
  most: number,
): number =>
  lists.reduce(
    (sum, { name, sizes }) => sizes.slice(0, listedOf(name, most)).reduce((total, size) => total + size, sum),
    0,
  );

/** The names of policies, each once. */
const namesOf = (entries: readonly Counted[]): readonly string[] => [
  ...new Set(entries.flatMap(({ policy }) => policy ?? [])),
];

/** At least the characters of the names of policies, with two quotes and a comma each. */
const sizeOfPolicies = ({ denied, shadowDenied }: UsageSummary, most: number): number =>
  [denied, shadowDenied]
    .flatMap(({ entries }) => namesOf(entries.slice(0, most)))
    .reduce((sum, name) => sum + name.length + 3, 0);

/** The policies that denied the keys of a list, each once; and for each key the place of its policy, from 1; 0: none is named. */
function policiesOf(entries: readonly Counted[]) {
  const policies = namesOf(entries);
  if (policies.length === 0) return {};
  const places = new Map(policies.map((name, i) => [name, i + 1]));
  return { policies, denying: entries.map(({ policy }) => (policy === undefined ? 0 : places.get(policy)!)) };
}

const countsText = (counts: ResultCounts) =>
  Object.fromEntries(
    RESULTS.flatMap((result) => (counts[result].length > 0 ? [[result, counts[result]]] : [])),
  );
