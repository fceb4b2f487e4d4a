import type { MaybePromise } from '@sluice/core/internal';
import type { Pause } from './pause.js';

/** ms between two looks at the keys of calls that wait: another process may have paused one of them. */
const RECHECK = 2_000;
/** ms in which calls begin that have one signal, because a signal for each takes longer than many a decision. */
const TOGETHER = 1_000;
/** Groups that are kept for later calls of the same keys. */
const MOST = 100;

/** The pauses in the store. */
interface PauseReader {
  /** ms since 1970 */
  readonly now: number;
  /** Calls `PauseWatch.learned` for each of these keys that is paused. */
  look(keys: readonly string[]): MaybePromise<unknown>;
  sleep(ms: number, signal: undefined, options: { readonly idle: boolean }): Promise<void>;
}

/** Calls with the same keys that began at about the same time, and wait for something else than the end of a pause. */
export class WatchingCalls {
  readonly #stop = new AbortController();
  /** How many of them wait. */
  waiting = 0;
  /** The last moment at which one of them would still be sent, ms since 1970. */
  #deadline = 0;
  /** A pause that outlasts all of them. */
  pause: Pause | undefined;

  /** @param began ms since 1970 */
  constructor(
    readonly keys: readonly string[],
    readonly began: number,
  ) {}

  /** Aborted when such a pause begins. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  enter(deadline: number): void {
    this.waiting += 1;
    this.#deadline = Math.max(this.#deadline, deadline);
  }

  learned(pause: Pause): void {
    if (pause.until <= this.#deadline || !this.keys.includes(pause.key)) return;
    this.pause = pause;
    this.#stop.abort();
  }
}

/** Calls that learn of pauses while they wait: at once if this process learns of one, and every two seconds from the store. */
export class PauseWatch {
  /** The group that began last, by its keys. */
  readonly #latest = new Map<string, WatchingCalls>();
  /** Groups in which a call waits. */
  readonly #waiting: WatchingCalls[] = [];
  #isReading = false;

  constructor(readonly pauses: PauseReader) {}

  /**
   * The group in which a call waits from now on, until `leave`.
   * @param keys under which it can be paused: calls of one route may draw on different budgets
   */
  enter(keys: readonly string[], deadline: number): WatchingCalls {
    const { now } = this.pauses;
    const id = keys.join('\n');
    let calls = this.#latest.get(id);
    if (calls === undefined || calls.pause !== undefined || now - calls.began > TOGETHER) {
      calls = new WatchingCalls(keys, now);
      if (this.#latest.size >= MOST) this.#latest.clear();
      this.#latest.set(id, calls);
    }
    if (calls.waiting === 0) this.#waiting.push(calls);
    calls.enter(deadline);
    if (!this.#isReading) void this.#read();
    return calls;
  }

  leave(calls: WatchingCalls): void {
    calls.waiting -= 1;
    if (calls.waiting === 0) this.#waiting.splice(this.#waiting.indexOf(calls), 1);
  }

  /** This process has learned of a pause, or reads again that it is in force. */
  learned(pause: Pause): void {
    for (const calls of this.#waiting) calls.learned(pause);
  }

  /** One loop for all calls, because most wait for a moment only. Never rejects: after its wait each call looks for itself. */
  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      do {
        await this.pauses.sleep(RECHECK, undefined, { idle: true });
        const keys = new Set(this.#waiting.flatMap((calls) => calls.keys));
        if (keys.size > 0) await this.pauses.look([...keys]);
      } while (this.#waiting.length > 0);
    } catch {
      // Closed, or the store refuses.
    } finally {
      this.#isReading = false;
    }
  }
}
