import type { KeyCount, Store, TopKeys, UsageKeys } from '@sluice/core';
import { type LeftOut, noticeBoard, readNotes } from '../definitions/read-notes.js';
import { hashCounted } from './counted-key.js';
import { mergeSamples } from './key-sample.js';
import { type KeyUse, keyUseOf } from './key-use.js';
import { mergeSummaries } from './merge.js';
import { type ProcessUsage, parseUsage } from './parse-usage.js';
import { byResult, RESULTS, type ResultCounts, SLOT_MS, SLOTS } from './result-slots.js';
import type { Summary } from './summary.js';
import { keyCounts, topKeys } from './top-keys.js';
import { byList, type ListName, OTHER_LIMITERS, type UsageSummary } from './usage-summary.js';

/** One limiter in all processes of a store. */
export interface LimiterUsageReport extends TopKeys {
  /** Its name; `(other)` for the limiters above 50 of a process. */
  readonly limiter: string;
  /** Calls by result in each slot of 10 s: 15 minutes, the newest slot last. The newest slot is not complete. */
  readonly decisions: ResultCounts;
  /**
   * Keys that were denied in the last minute, the most denied first: of each process at most 16. They have the form of `denied`, with errors of
   * at most a 16th of these denials.
   */
  readonly recentlyDenied: readonly KeyCount[];
  /** The same for calls in shadow mode, such as `dryRun`. */
  readonly shadowDecisions: ResultCounts;
  /**
   * How many keys it decided in the last `span`, and how much of its limits they used. Undefined without `usage: { keyUse: true }`, and without
   * a call. Of a `CombinedLimiter`, its members have it.
   */
  readonly keyUse: KeyUse | undefined;
  /** The same for calls in shadow mode. */
  readonly shadowKeyUse: KeyUse | undefined;
}

/** A process that has published counts in the last 15 minutes. */
export interface ProcessReport {
  /** Random id of its store object. */
  readonly process: string;
  /** Its version of this package. */
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** ms since it published them, by the store's clock; above 20,000 it has ended, is idle, or has no connection. */
  readonly age: number;
}

/** What the limiters of a store did in all processes in the last 15 minutes. */
export interface UsageReport {
  /** By name. */
  readonly limiters: readonly LimiterUsageReport[];
  /** Processes that have published counts; a process without calls is not among them. */
  readonly processes: readonly ProcessReport[];
  /** Texts that this version cannot read, and why. They are not in the counts. */
  readonly refused: readonly LeftOut[];
  /** `'hash'` if one process hashes its keys. */
  readonly keys: UsageKeys;
}

/** A process, and when it published its counts. */
interface Published extends ProcessUsage {
  readonly age: number;
}

/**
 * Merges what all processes of a store counted. The store of the reader needs no option `usage`.
 * @throws TypeError if the store cannot be shared; StoreUnavailableError, StoreConfigurationError
 */
export async function readUsage(store: Pick<Store, 'name' | 'fleet' | 'usage'>): Promise<UsageReport> {
  const board = noticeBoard('readUsage', store);
  await store.usage?.publish(); // this process's counts up to now
  const published: Published[] = [];
  const processes: ProcessReport[] = [];
  const refused: LeftOut[] = [];
  const notes = await readNotes(board, 'usage', parseUsage, (note) => refused.push(note));
  for (const { process, age, value } of notes) {
    const { version, host, pid } = value;
    published.push({ ...value, age });
    processes.push({ process, version, host, pid, age });
  }
  const keys = published.some((one) => one.keys === 'hash') ? 'hash' : 'plain';
  return { limiters: reports(keys === 'hash' ? published.map(hashed) : published), processes, refused, keys };
}

/** A list of the last minute that was published earlier than this is no longer one, ms. */
const RECENT_MS = 60_000;

function reports(published: readonly Published[]): LimiterUsageReport[] {
  const names = new Set(published.flatMap(({ limiters }) => limiters.map(({ name }) => name)));
  return [...names].sort().map((name) => {
    const parts = published.flatMap((process) => {
      const summary = summaryIn(process, name, names);
      return summary === undefined ? [] : [{ process, summary }];
    });
    const merged = (list: ListName) => mergeSummaries(parts.map(({ summary }) => summary[list]));
    const recent = parts.flatMap(({ process, summary }) =>
      process.age < RECENT_MS ? [summary.recentlyDenied] : [],
    );
    const use = (list: 'keyUse' | 'shadowKeyUse') => {
      const samples = parts.flatMap(({ summary }) => summary[list] ?? []);
      return samples.length === 0 ? undefined : keyUseOf(mergeSamples(samples));
    };
    const [enforce, shadow] = [emptySlots(), emptySlots()];
    for (const { process, summary } of parts) {
      addSlots(enforce, summary.enforce, process);
      addSlots(shadow, summary.shadow, process);
    }
    const span = Math.max(...parts.map(({ process, summary }) => summary.span + process.age));
    return {
      limiter: name,
      ...topKeys({
        denied: merged('denied'),
        shadowDenied: merged('shadowDenied'),
        costly: merged('costly'),
        span,
      }),
      recentlyDenied: keyCounts(mergeSummaries(recent)),
      decisions: enforce,
      shadowDecisions: shadow,
      keyUse: use('keyUse'),
      shadowKeyUse: use('shadowKeyUse'),
    };
  });
}

/**
 * What a process counted of a limiter. If the limiter has no counts of its own in the process, its keys may be among the keys of
 * `(other)`. Then they count here, and not there.
 */
function summaryIn(
  { limiters }: Published,
  name: string,
  names: ReadonlySet<string>,
): UsageSummary | undefined {
  const own = limiters.find((limiter) => limiter.name === name);
  if (own !== undefined && name !== OTHER_LIMITERS) return own;
  const other = limiters.find((limiter) => limiter.name === OTHER_LIMITERS);
  if (other === undefined) return undefined;
  const start = `${name} `;
  const entriesOf = ({ entries }: Summary) =>
    name === OTHER_LIMITERS
      ? entries.filter(({ key }) => !names.has(key.slice(0, key.indexOf(' '))))
      : entries.flatMap((entry) =>
          entry.key.startsWith(start) ? [{ ...entry, key: entry.key.slice(start.length) }] : [],
        );
  const { enforce, shadow, span } = other;
  const slots = name === OTHER_LIMITERS ? { enforce, shadow } : { enforce: NO_CALLS, shadow: NO_CALLS };
  const lists = byList((list) => ({ ...other[list], entries: entriesOf(other[list]) }));
  return { name, span, ...lists, ...slots };
}

/** Plain keys as others show them. */
function hashed(published: Published): Published {
  if (published.keys === 'hash') return published;
  const list = (summary: Summary): Summary => ({
    ...summary,
    entries: summary.entries.map((entry) => ({ ...entry, key: hashCounted(entry.key) })),
  });
  const limiters = published.limiters.map((limiter) => ({
    ...limiter,
    ...byList((name) => list(limiter[name])),
  }));
  return { ...published, keys: 'hash', limiters };
}

const NO_CALLS: ResultCounts = byResult(() => []);

type Slots = Record<keyof ResultCounts, number[]>;

const emptySlots = (): Slots => byResult(() => new Array<number>(SLOTS).fill(0));

/** Adds the slots of a process, which do not begin when ours do: each is added to the slot that has its middle. */
function addSlots(sums: Slots, counts: ResultCounts, { age, slotAge }: Published): void {
  for (const result of RESULTS) {
    counts[result].forEach((count, i) => {
      const middle = age + (i === 0 ? slotAge / 2 : slotAge + (i - 0.5) * SLOT_MS);
      const slotsAgo = Math.floor(middle / SLOT_MS);
      if (slotsAgo < SLOTS) sums[result][SLOTS - 1 - slotsAgo]! += count;
    });
  }
}
