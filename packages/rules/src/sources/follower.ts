import { LONGEST_TIMER } from '@sluice/core/internal';
import type { RulesSource, SourcedRules } from './rules-source.js';

/** Pause after a failed read, ms. It doubles with each failure, up to the usual pause. */
const RETRY = 1_000;

interface Listener {
  found(rules: SourcedRules): void;
  unchanged(): void;
  failed(error: unknown): void;
}

/** Reads a source at each notice of a change, and at intervals. Runs one read at a time. Does not keep the process alive. */
export class Follower {
  readonly #source: RulesSource;
  readonly #every: number;
  readonly #listener: Listener;
  readonly #endWatch: (() => void) | undefined;
  /** The latest version that was read, accepted or refused. */
  #known: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Failed reads since the last successful one. */
  #failures = 0;
  #reading: Promise<void> | undefined;
  /** Was there a notice during the read? */
  #again: Promise<void> | undefined;
  #closed = false;

  /** @param every pause between two reads, ms */
  constructor(source: RulesSource, known: string | undefined, every: number, listener: Listener) {
    this.#source = source;
    this.#known = known;
    this.#every = every;
    this.#listener = listener;
    this.#schedule();
    this.#endWatch = source.watch?.(() => {
      // Where notices come from answers again. A read beside it may still fail, and is repeated soon.
      this.#failures = 0;
      void this.check();
    });
  }

  /** Reads now, or again after the pending read. */
  check(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    if (this.#reading === undefined) {
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
      });
      return this.#reading;
    }
    this.#again ??= this.#reading.then(() => {
      this.#again = undefined;
      return this.check();
    });
    return this.#again;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#endWatch?.();
    this.#source.close?.();
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const found = await this.#source.read(this.#known);
      if (this.#closed) return;
      this.#failures = 0;
      if (found === undefined) this.#listener.unchanged();
      else {
        this.#known = found.id;
        this.#listener.found(found);
      }
    } catch (error) {
      this.#failures += 1;
      if (!this.#closed) this.#listener.failed(error);
    }
    if (!this.#closed) this.#schedule();
  }

  /** A random pause, so that processes do not read at the same moment. After a failed read it is short, because a notice can be lost. */
  #schedule(): void {
    const pause =
      this.#failures === 0 ? this.#every : Math.min(this.#every, RETRY * 2 ** (this.#failures - 1));
    const ms = Math.min(pause * (0.9 + Math.random() / 5), LONGEST_TIMER);
    this.#timer = setTimeout(() => void this.check(), ms).unref();
  }
}
