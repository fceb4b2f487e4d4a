import { type StoreUsage as Counts, systemClock, type UsageKeys } from '@sluice/core';
import { type FleetBoard, unref } from '@sluice/core/internal';
import { GENERATIONS } from './generations.js';
import { LimiterUsage } from './limiter-usage.js';
import { SLOT_MS, SLOTS } from './result-slots.js';
import { MOST_LIMITERS, OTHER_LIMITERS, type StoreUsageSummary, type UsageSummary } from './usage-summary.js';
import { UsageWriter } from './usage-text.js';

/** A process that ended is seen as long as its calls count. */
const KEPT_MS = SLOTS * SLOT_MS;
/** A generation lasts five minutes. */
const SLOTS_OF_GENERATION = SLOTS / GENERATIONS;

/** Monotonic: the machine's time may jump. */
const nowMs = (): number => systemClock.now() / 1000;

/** What the limiters of a store did in this process in the last minutes. */
export class StoreUsage implements Counts {
  readonly #limiters = new Map<string, LimiterUsage>();
  #start = nowMs();
  /** The last reading of the clock. */
  #now = this.#start;
  /** The number of the slot under way. */
  #slot = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  readonly #writer: UsageWriter;
  readonly #board: FleetBoard;

  /** @param board where the other processes read the counts, while there are calls in the last 15 minutes */
  constructor(
    readonly keys: UsageKeys,
    board: FleetBoard,
    /** Are the keys of each limiter sampled, too? */
    readonly keyUse = false,
  ) {
    this.#writer = new UsageWriter(keys);
    this.#board = board;
  }

  /** Where to count the calls of a limiter, until that is `dropped`. */
  of(limiter: string): LimiterUsage {
    this.#advance();
    const name =
      this.#limiters.size < MOST_LIMITERS || this.#limiters.has(limiter) ? limiter : OTHER_LIMITERS;
    const usage = this.#limiters.get(name) ?? new LimiterUsage(name, this.#elapsed, this.keyUse);
    this.#limiters.set(name, usage);
    this.#awaitSlot();
    return usage;
  }

  summary(): StoreUsageSummary {
    this.#advance();
    // Read before the lists are built: readers refuse a slot that lasts longer.
    const slotAge = Math.min(SLOT_MS, this.#elapsed - this.#slot * SLOT_MS);
    const limiters = [...this.#limiters.values()].map((usage) => usage.summary(this.#spanOf(usage)));
    return { slotAge, limiters };
  }

  summaryOf(usage: LimiterUsage): UsageSummary {
    this.#advance();
    return usage.summary(this.#spanOf(usage));
  }

  #spanOf({ since }: LimiterUsage): number {
    const generation = Math.floor(this.#slot / SLOTS_OF_GENERATION) - GENERATIONS + 1;
    return this.#elapsed - Math.max(since, generation * SLOTS_OF_GENERATION * SLOT_MS);
  }

  /** Publishes the counts. Resolves to false if the store is out: they are then published after the next slot. */
  publish(): Promise<boolean> {
    return this.#board.publish('usage', this.#writer.write(this.summary()), KEPT_MS);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** A clock that goes back, as the fake timers of a test do when they begin or end, stands still for that moment. */
  get #elapsed(): number {
    const now = nowMs();
    this.#start -= Math.max(0, this.#now - now);
    this.#now = now;
    return Math.floor(now - this.#start);
  }

  /** Begins the slots that should have begun by now, and drops limiters without calls. */
  #advance(): void {
    const slot = Math.floor(this.#elapsed / SLOT_MS);
    if (slot <= this.#slot) return;
    const generations = Math.floor(slot / SLOTS_OF_GENERATION) - Math.floor(this.#slot / SLOTS_OF_GENERATION);
    for (const usage of this.#limiters.values()) {
      usage.advance(slot - this.#slot, Math.min(generations, GENERATIONS));
      if (usage.idle < SLOTS) continue;
      usage.dropped = true;
      this.#limiters.delete(usage.name);
    }
    this.#slot = slot;
  }

  /** A decision does not read the clock: a timer begins the slots. It ends when all limiters are idle. */
  #awaitSlot(): void {
    if (this.#closed || this.#limiters.size === 0) return;
    const left = (this.#slot + 1) * SLOT_MS - this.#elapsed;
    this.#timer ??= unref(
      setTimeout(() => {
        this.#timer = undefined;
        this.#advance();
        this.#awaitSlot();
        if (this.#limiters.size > 0) void this.publish();
      }, left + 1),
    );
  }
}
