import { performance } from 'node:perf_hooks';
import type { Tally } from './messages.js';

/** Time that a busy machine may add to the permitted wait of a call, ms. */
const SLACK = 3_000;
const MOST = 20;

/** The permitted outcomes of a call. */
export type Came = 'redis' | 'degraded' | 'refused';

/** Records every pending call, and the outcomes of the others. */
export class Ledger {
  readonly tallies: Record<string, Tally> = {};
  readonly #wrong = new Map<string, string>();
  readonly #open = new Set<{ readonly kind: string; readonly since: number }>();

  /** @param given permitted wait, ms */
  async enter(kind: string, given: number, call: () => Promise<Came>): Promise<void> {
    const tally = this.#tally(kind);
    tally.calls += 1;
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

  /** Keeps the first complaint of each kind; complaints that differ only in numbers are of one kind. */
  wrong(kind: string, what: string): void {
    const text = `${kind}: ${what}`;
    const sort = text.replace(/\d+/g, '0');
    if (this.#wrong.size < MOST && !this.#wrong.has(sort)) this.#wrong.set(sort, text);
  }

  get wrongs(): string[] {
    return [...this.#wrong.values()];
  }

  /** Abandons all pending calls. */
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
    this.tallies[kind] ??= { calls: 0, redis: 0, degraded: 0, refused: 0, slowest: 0 };
    return this.tallies[kind];
  }
}
