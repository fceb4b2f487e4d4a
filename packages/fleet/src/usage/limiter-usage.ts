import { Generations } from './generations.js';
import { KeySample, mergeSamples, type SampleSummary } from './key-sample.js';
import { mergeSummaries } from './merge.js';
import { RECENT_SLOTS, ResultSlots } from './result-slots.js';
import { SpaceSaving } from './space-saving.js';
import { RECENT_KEYS, type Summary } from './summary.js';
import { OTHER_LIMITERS, type UsageSummary } from './usage-summary.js';

/** The heaviest keys. Errors and `unlisted` are at most a 256th of the total. */
const keyCounts = () =>
  new Generations<SpaceSaving, Summary>(
    () => new SpaceSaving(),
    (sums) => mergeSummaries(sums),
  );
const recentCounts = () =>
  new Generations<SpaceSaving, Summary>(
    () => new SpaceSaving(RECENT_KEYS),
    (sums) => mergeSummaries(sums, RECENT_KEYS),
    RECENT_SLOTS,
  );
const keySamples = () => new Generations<KeySample, SampleSummary>(() => new KeySample(), mergeSamples);

/** Counts the calls of one limiter. A key may have a scope in front of it, and a space between. */
export class LimiterUsage {
  readonly denied = keyCounts();
  /** Of the last minute. */
  readonly recentlyDenied = recentCounts();
  readonly shadowDenied = keyCounts();
  readonly costly = keyCounts();
  /** Of enforced calls, and of calls in shadow mode; undefined without the option `keyUse`. */
  readonly keyUse: ReturnType<typeof keySamples> | undefined;
  readonly shadowKeyUse: ReturnType<typeof keySamples> | undefined;
  readonly enforce = new ResultSlots();
  readonly shadow = new ResultSlots();
  /** Has a call been counted since the last look? */
  active = true;
  /** Slots without a call. */
  idle = 0;
  /** It is no longer read: its limiter needs a new one. */
  dropped = false;

  constructor(
    readonly name: string,
    /** Start of the first count; ms of its store's usage. */
    readonly since: number,
    keyUse = false,
  ) {
    // `(other)` has the keys of many limiters.
    if (!keyUse || name === OTHER_LIMITERS) return;
    this.keyUse = keySamples();
    this.shadowKeyUse = keySamples();
  }

  /** @param span how far back keys are counted, ms */
  summary(span: number): UsageSummary {
    return {
      name: this.name,
      denied: this.denied.summary,
      recentlyDenied: this.recentlyDenied.summary,
      shadowDenied: this.shadowDenied.summary,
      costly: this.costly.summary,
      keyUse: this.keyUse?.summary,
      shadowKeyUse: this.shadowKeyUse?.summary,
      enforce: this.enforce.counts,
      shadow: this.shadow.counts,
      span,
    };
  }

  /** Begins the next slots, and generations. */
  advance(slots: number, generations: number): void {
    this.idle = this.active ? 0 : this.idle + slots;
    this.active = false;
    this.enforce.advance(slots);
    this.shadow.advance(slots);
    for (let i = Math.min(slots, RECENT_SLOTS); i > 0; i -= 1) this.recentlyDenied.next();
    for (let i = 0; i < generations; i += 1) {
      this.denied.next();
      this.shadowDenied.next();
      this.costly.next();
      this.keyUse?.next();
      this.shadowKeyUse?.next();
    }
  }
}
