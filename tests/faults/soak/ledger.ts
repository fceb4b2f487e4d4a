import { performance } from 'node:perf_hooks';
import type { Tally } from './messages.js';

/** ms that a busy machine may add to what a call was given. */
const SLACK = 3_000;
const MOST = 20;

/** The permitted outcomes of a call. */
export type Came = 'redis' | 'degraded' | 'refused';

/** Knows every call that is under way, and what became of the others. */
export class Ledger {
  readonly tallies: Record<string, Tally> = {};
  readonly #wrong = new Map<string, string>();
  readonly #open = new Set<{ readonly kind: string; readonly since: number }>();

  /** @param given ms that it may wait */
  async enter(kind: string, given: number, call: () => Promise<Came>): Promise<void> {
    const tally = this.#tally(kind);
    tally.asked += 1;
    const one = { kind, since: performance.now() };
    this.#open.add(one);
    try {
      tally[await call()] += 1;
    } catch (error) {
      this.wrong(kind, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
    if (!this.#open.delete(one)) this.wrong(kind, 'settled after it was given up');
    const beyond = performance.now() - one.since - given;
    tally.slowest = Math.max(tally.slowest, beyond);
    if (beyond > SLACK) this.wrong(kind, `settled ${Math.round(beyond)} ms too late`);
  }

  /** The first of each sort is remembered: numbers do not make another sort. */
  wrong(kind: string, what: string): void {
    const text = `${kind}: ${what}`;
    const sort = text.replace(/\d+/g, '0');
    if (this.#wrong.size < MOST && !this.#wrong.has(sort)) this.#wrong.set(sort, text);
  }

  get wrongs(): string[] {
    return [...this.#wrong.values()];
  }

  /** Gives up what is still under way. */
  unsettled(): string[] {
    const left = [...this.#open].map(
      ({ kind, since }) => `${kind}, for ${Math.round(performance.now() - since)} ms`,
    );
    this.#open.clear();
    return left;
  }

  get size(): number {
    return this.#open.size;
  }

  #tally(kind: string): Tally {
    this.tallies[kind] ??= { asked: 0, redis: 0, degraded: 0, refused: 0, slowest: 0 };
    return this.tallies[kind];
  }
}
