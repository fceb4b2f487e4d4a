import { onAbort } from '@sluice/core/internal';
import type { WaitLimits } from '../calls/time.js';
import type { Pause } from './pause.js';
import type { Pauses } from './pauses.js';

/** ms after which a process reads a pause again that its calls wait for: another process may have made it longer, or ended it. */
const RECHECK = 2_000;

interface Waiting {
  ended(): void;
  changed(pause: Pause): void;
}

/** One wait for all calls of this process that a pause holds up. */
class SharedWait {
  readonly waiting = new Set<Waiting>();
  readonly stop = new AbortController();
}

/** Calls that wait for the end of a pause. Each paused key is read at most every two seconds, however many calls wait for it. */
export class PauseWaits {
  readonly #waits = new Map<string, SharedWait>();

  constructor(readonly pauses: Pauses) {}

  /** Resolves when the pause is over. Rejects with `tooLong` if it outlasts the deadline, and with the signal's reason at once. */
  wait(pause: Pause, { deadline, signal }: WaitLimits, tooLong: (pause: Pause) => Error): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (pause.until > deadline) return Promise.reject(tooLong(pause));
    return new Promise((resolve, reject) => {
      const shared = this.#waits.get(pause.key) ?? this.#begin(pause);
      const end = () => {
        ignore();
        shared.waiting.delete(one);
        if (shared.waiting.size === 0) shared.stop.abort();
      };
      const one: Waiting = {
        ended: () => {
          end();
          resolve();
        },
        changed: (later) => {
          if (later.until <= deadline) return;
          end();
          reject(tooLong(later));
        },
      };
      const ignore = onAbort(signal, () => {
        end();
        reject(signal!.reason);
      });
      shared.waiting.add(one);
    });
  }

  #begin(pause: Pause): SharedWait {
    const shared = new SharedWait();
    this.#waits.set(pause.key, shared);
    shared.stop.signal.addEventListener('abort', () => this.#forget(pause.key, shared), { once: true });
    void this.#run(pause, shared).then(() => {
      this.#forget(pause.key, shared);
      for (const one of [...shared.waiting]) one.ended();
    });
    return shared;
  }

  #forget(key: string, shared: SharedWait): void {
    if (this.#waits.get(key) === shared) this.#waits.delete(key);
  }

  /** Never rejects: after an error each call looks for itself. */
  async #run(first: Pause, { waiting, stop }: SharedWait): Promise<void> {
    try {
      for (let pause: Pause | undefined = first; pause !== undefined; ) {
        const left: number = pause.until - this.pauses.now;
        if (left > 0) await this.pauses.sleep(Math.min(left, RECHECK), stop.signal);
        const next: Pause | undefined = (await this.pauses.look([pause.key])).paused;
        if (next !== undefined && next.until > pause.until) for (const one of [...waiting]) one.changed(next);
        pause = next;
      }
    } catch {
      // Stopped, or the store refuses: the calls get its error when they look.
    }
  }
}
