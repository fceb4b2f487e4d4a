import { Generations } from './generations.js';
import { ResultSlots } from './result-slots.js';
import type { UsageSummary } from './usage-summary.js';

/** Counts the calls of one limiter. A key may have a scope in front of it, and a space between. */
export class LimiterUsage {
  readonly denied = new Generations();
  readonly shadowDenied = new Generations();
  readonly costly = new Generations();
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
  ) {}

  /** @param span how far back keys are counted, ms */
  summary(span: number): UsageSummary {
    return {
      name: this.name,
      denied: this.denied.summary,
      shadowDenied: this.shadowDenied.summary,
      costly: this.costly.summary,
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
    for (let i = 0; i < generations; i += 1) {
      this.denied.next();
      this.shadowDenied.next();
      this.costly.next();
    }
  }
}
