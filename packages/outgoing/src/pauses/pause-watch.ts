import type { MaybePromise } from '@sluice/core/internal';
import type { Pause } from './pause.js';

/** ms between two looks at the keys of calls that wait: another process may have paused one of them. */
const RECHECK = 2_000;

/** The pauses in the store. */
interface PauseReader {
  /** Calls `PauseWatch.learned` for each of these keys that is paused. */
  look(keys: readonly string[]): MaybePromise<unknown>;
  sleep(ms: number, signal: undefined, options: { readonly idle: boolean }): Promise<void>;
}

/** A call that waits for something else than the end of a pause. */
interface WatchingCall {
  /** Under which it can be paused. */
  readonly keys: readonly string[];
  paused(pause: Pause): void;
}

/** Calls that learn of pauses while they wait: at once if this process learns of one, and every two seconds from the store. */
export class PauseWatch {
  /** No Set: of one that each call enters and leaves, V8 keeps the tables that it outgrew. */
  readonly #calls: WatchingCall[] = [];
  #isReading = false;

  constructor(readonly pauses: PauseReader) {}

  add(call: WatchingCall): void {
    this.#calls.push(call);
    if (!this.#isReading) void this.#read();
  }

  delete(call: WatchingCall): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
  }

  /** This process has learned of a pause, or reads again that it is in force. */
  learned(pause: Pause): void {
    for (const call of [...this.#calls]) if (call.keys.includes(pause.key)) call.paused(pause);
  }

  /** One loop for all calls, because most wait for a moment only. Never rejects: after its wait each call looks for itself. */
  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#calls.length > 0) {
        await this.pauses.sleep(RECHECK, undefined, { idle: true });
        const keys = new Set(this.#calls.flatMap((call) => call.keys));
        if (keys.size > 0) await this.pauses.look([...keys]);
      }
    } catch {
      // Closed, or the store refuses.
    } finally {
      this.#isReading = false;
    }
  }
}
