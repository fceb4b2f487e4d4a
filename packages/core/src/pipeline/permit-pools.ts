import type { Clock } from '../clock.js';
import { storageKey } from '../engine/call.js';
import { Stock } from './permit-pool.js';
import type { PolicyPart, Prefetch } from './policy-limit.js';

/** Keys of a limit that are known at once. */
const MOST = 10_000;
/** So many of the oldest stay where one makes room, if they are busy: a flood of keys that come once does not push out what is here. */
const SPARED = 8;
/** µs, at the least, between two looks at all of them. */
const SWEEP = 100_000;

/** What this process has ahead of one limit, by key. */
export class Stocks {
  readonly #stocks = new Map<string, Stock>();
  readonly #closing = new AbortController();
  #clock: Clock | undefined;

  constructor(readonly prefetch: Prefetch) {}

  find(key: string): Stock | undefined {
    return this.#stocks.get(key);
  }

  /** `undefined` when nothing is taken ahead any more. */
  of(key: string, clock: Clock): Stock | undefined {
    let stock = this.#stocks.get(key);
    if (stock !== undefined) return stock;
    if (this.#closing.signal.aborted) return undefined;
    if (this.#stocks.size >= MOST) this.#makeRoom(clock);
    stock = new Stock(this.prefetch);
    this.#stocks.set(key, stock);
    if (this.#clock === undefined) {
      this.#clock = clock;
      void this.#sweep(clock);
    }
    return stock;
  }

  #makeRoom(clock: Clock): void {
    let spared = 0;
    for (const [key, stock] of this.#stocks) {
      this.#stocks.delete(key);
      if (spared === SPARED || !stock.isBusy) {
        void stock.empty(clock);
        return;
      }
      this.#stocks.set(key, stock);
      spared += 1;
    }
  }

  /** Gives back what lies idle. Keeps no process alive, and ends when no key is known. */
  async #sweep(clock: Clock): Promise<void> {
    const { signal } = this.#closing;
    while (this.#stocks.size > 0) {
      try {
        await clock.sleep(Math.max(SWEEP, this.prefetch.longest), signal, { idle: true });
      } catch {
        return; // closed
      }
      const now = clock.now();
      for (const [key, stock] of this.#stocks) if (stock.isIdle(now)) this.#stocks.delete(key);
    }
    this.#clock = undefined;
  }

  /** Gives everything back, and takes nothing ahead from now on. */
  async close(): Promise<void> {
    this.#closing.abort();
    const clock = this.#clock;
    if (clock === undefined) return; // no key is known
    const stocks = [...this.#stocks.values()];
    this.#stocks.clear();
    await Promise.all(stocks.map((stock) => stock.empty(clock)));
  }
}

/** One for each limit of a limiter, wherever its parts are asked: by itself or in combinations. */
const made = new WeakMap<Prefetch, Stocks>();

export function stocksOf(prefetch: Prefetch): Stocks {
  let stocks = made.get(prefetch);
  if (stocks === undefined) {
    stocks = new Stocks(prefetch);
    made.set(prefetch, stocks);
  }
  return stocks;
}

export const stockOf = (part: PolicyPart): Stock | undefined =>
  part.limit.prefetch === undefined ? undefined : stocksOf(part.limit.prefetch).find(storageKey(part));
