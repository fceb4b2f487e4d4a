import { shiftAnswer } from '../../call/answers.js';
import type { Answer, AnswerSource, Call, Part } from '../../call/call.js';
import type { CallDeadline } from '../../call/deadlines.js';
import type { Prefetched } from '../../call/limit.js';
import type { Clock } from '../../clock.js';

/** How many unneeded permits of a key a process may take, and how long it may use them. */
export interface PrefetchLimits {
  readonly most: number;
  /** µs */
  readonly longest: number;
}

/** The pipeline, behind the prefetched permits. */
export interface Upstream {
  readonly clock: Clock;
  /** @param deadline of a call that may need several requests */
  request(call: Call, deadline?: CallDeadline): Promise<Answer>;
}

/** Permits taken by one call and not all used yet. */
export interface PermitBlock {
  readonly part: Part;
  /** The store's answer when they were taken. */
  readonly answer: Answer;
  /** When the call began, µs of this process's clock: times in the answer count from here, so none ends too late. */
  readonly sentAt: number;
  /** Until when they may be used, on the same clock. */
  readonly until: number;
  left: number;
}

/** The prefetched permits of one key, and how many the next block gets. */
export class PermitPool {
  /** A block on its way. */
  taking: Promise<Answer> | undefined;
  /** Permits of the block on its way that no call waits for yet. */
  #coming = 0;
  #block: PermitBlock | undefined;
  #size = 0;
  #remaining = 0;
  #life = 0;
  #lastBlockAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly limits: PrefetchLimits,
    readonly upstream: Upstream,
  ) {}

  /** From now on a block with `extra` prefetched permits is on its way, or none. */
  expect(taking: Promise<Answer> | undefined, extra: number): void {
    this.taking = taking;
    this.#coming = extra;
  }

  /** Reserves `cost` permits of the block on its way. Returns whether it has enough. */
  claim(cost: number): boolean {
    if (this.#coming < cost) return false;
    this.#coming -= cost;
    return true;
  }

  /** Are permits here, or on their way? */
  get holds(): boolean {
    return this.#block !== undefined || this.taking !== undefined;
  }

  /** Usable permits at `now`. An expired block is given back. */
  usable(now: number): number {
    const block = this.#block;
    if (block === undefined) return 0;
    if (now < block.until && now >= block.sentAt) return block.left;
    this.#block = undefined;
    // The next block gets as many as were used, but at least half: one slow moment is no trend.
    this.#size = Math.max(this.#size >> 1, this.#size - block.left);
    void this.giveBack(block, now);
    return 0;
  }

  /** Takes `cost` permits, if there are that many. @param source of the answer */
  take(cost: number, now: number, source: AnswerSource): Answer | undefined {
    if (this.usable(now) < cost) return undefined;
    const block = this.#block!;
    block.left -= cost;
    const { answer, sentAt, left } = block;
    if (left === 0) this.#block = undefined;
    return shiftAnswer(answer, now - sentAt, source, left);
  }

  /** Removes the block and returns it. */
  withdraw(now: number): PermitBlock | undefined {
    const block = this.usable(now) > 0 ? this.#block : undefined;
    this.#block = undefined;
    return block;
  }

  /** Waits for the block on its way, and removes all permits. */
  async clear(): Promise<PermitBlock | undefined> {
    await this.taking?.catch(() => {}); // its own caller gets the error
    return this.withdraw(this.upstream.clock.now());
  }

  async empty(): Promise<void> {
    const block = await this.clear();
    if (block !== undefined) await this.giveBack(block, this.upstream.clock.now());
  }

  /** Returns unused permits. If the store is out, they come back by themselves, as used ones do. */
  async giveBack({ part, answer, sentAt, left }: PermitBlock, now: number): Promise<void> {
    if (left === 0 || now - sentAt >= answer.parts[0]!.reset) return; // they are back by now
    try {
      await this.upstream.request(refundOf({ ...part, cost: left }, answer));
    } catch {} // calls that need a decision get this error
  }

  put(block: PermitBlock): void {
    this.#block = block;
  }

  /** Size of the next block: doubled if the last was used quickly, halved after a pause; at most half of what the store had left. */
  next(now: number): number {
    const pause = now - this.#lastBlockAt;
    if (pause < this.#life / 4) this.#size = Math.min(this.limits.most, Math.max(1, this.#size * 2));
    else if (pause >= this.#life) this.#size >>= 1;
    this.#lastBlockAt = now;
    return Math.min(this.#size, Math.floor(this.#remaining / 2));
  }

  /**
   * Near the limit, and during an override, nothing is prefetched.
   * @param life µs for which permits of this answer may be used
   */
  learn({ allowed, parts }: Answer, life: number): void {
    const [{ remaining, override }] = parts as [Answer['parts'][0]];
    this.#remaining = remaining;
    this.#life = allowed ? life : 0;
    if (override !== undefined) this.#size = 0;
    else if (!allowed) this.#size >>= 1;
  }

  /** Whether the next block may prefetch permits. */
  get isBusy(): boolean {
    return this.#size > 0;
  }

  /** Empty, with no block on its way, and unused for long. */
  isIdle(now: number): boolean {
    return (
      this.usable(now) === 0 &&
      this.taking === undefined &&
      now - this.#lastBlockAt >= 2 * this.limits.longest
    );
  }
}

export const refundOf = (part: Part, { parts }: Answer): Call => ({
  operation: 'refund',
  wait: 0,
  parts: [{ ...part, at: parts[0]!.at }],
});

/** Keys with a pool at once. */
const MOST = 10_000;
/** With more pools than this, a key that is used once gets none; keys remembered for that, twice. */
const FEW = 1_000;
/** Pools that make room at once: to find the oldest entry, V8 passes over all places of entries deleted before. */
const EVICTED = 20;
/** Busy pools that an eviction may skip: keys used once must not evict pools in use. */
const KEPT = 8;
/** Shortest time between two sweeps, µs. */
const SWEEP = 100_000;

/** The prefetched permits of one limit, by key. */
export class PermitPools implements Prefetched {
  readonly #pools = new Map<string, PermitPool>();
  /** Keys without a pool that were used lately: the latest, and those before. */
  #seen = new Set<string>();
  #seenBefore = new Set<string>();
  readonly #closing = new AbortController();
  #sweeping = false;

  constructor(readonly limits: PrefetchLimits) {}

  find({ key }: Part): PermitPool | undefined {
    return this.#pools.get(key);
  }

  /** `undefined` once closed, and for a new key among many: it gets a pool if it is soon used again. */
  of({ key }: Part, upstream: Upstream): PermitPool | undefined {
    let pool = this.#pools.get(key);
    if (pool !== undefined || this.#closing.signal.aborted) return pool;
    if (this.#pools.size >= FEW && !this.#wasSeen(key)) return undefined;
    if (this.#pools.size >= MOST) this.#makeRoom();
    pool = new PermitPool(this.limits, upstream);
    this.#pools.set(key, pool);
    if (!this.#sweeping) void this.#sweep(upstream.clock);
    return pool;
  }

  #wasSeen(key: string): boolean {
    if (this.#seen.has(key) || this.#seenBefore.has(key)) return true;
    if (this.#seen.size >= FEW) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
    }
    this.#seen.add(key);
    return false;
  }

  /** Evicts a few of the oldest pools, but only one of the busy ones. */
  #makeRoom(): void {
    let [evicted, kept] = [0, 0];
    for (const [key, pool] of this.#pools) {
      this.#pools.delete(key);
      if (pool.isBusy && kept < KEPT) {
        this.#pools.set(key, pool);
        kept += 1;
        continue;
      }
      if (pool.holds) void pool.empty();
      evicted += 1;
      if (pool.isBusy || evicted === EVICTED) return;
    }
  }

  /** Gives back unused permits. Keeps no process alive, and ends when there is no pool. */
  async #sweep(clock: Clock): Promise<void> {
    this.#sweeping = true;
    while (this.#pools.size > 0) {
      try {
        await clock.sleep(Math.max(SWEEP, this.limits.longest), this.#closing.signal, { idle: true });
      } catch {
        return; // closed
      }
      const now = clock.now();
      for (const [key, pool] of this.#pools) if (pool.isIdle(now)) this.#pools.delete(key);
    }
    this.#sweeping = false;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.empty()));
  }
}
