import type { Answer, Call } from '../decisions/call.js';
import type { Asked } from './store.js';

/** Somebody who waits, and not for ever: himself a link of the list of all who do, so that to wait costs next to nothing. */
export interface Timed {
  /** ms, of the monotonic clock. 0 while it is in no list. */
  due: number;
  /** Has it been given more time once? */
  spared: boolean;
  before: Timed | undefined;
  after: Timed | undefined;
  /** The time has passed. */
  expire(): void;
}

/** Such a list. */
export interface Waits {
  begin(one: Timed): void;
  /** Ends a wait before its time; no harm afterwards. */
  end(one: Timed): void;
}

/**
 * A call on its way to its answer: the one object, with the one promise, that goes through all layers to the store and back. It is
 * settled once; what comes later is ignored.
 */
export class Asking implements Timed {
  readonly promise: Promise<Answer>;
  due = 0;
  spared = false;
  before: Timed | undefined;
  after: Timed | undefined;
  readonly #asked: Asked | undefined;
  #deadline: number | undefined;
  #expired = false;
  #over = false;
  protected resolve!: (answer: Answer) => void;
  protected reject!: (error: unknown) => void;
  #waits: Waits | undefined;
  #late: (() => Error) | undefined;

  /** @param asked whoever else may stop waiting for the answer */
  constructor(
    readonly call: Call,
    asked?: Asked,
  ) {
    this.#asked = asked;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** From now on it has so long, in ms; `late` says what it fails with then, and what has not left yet does not leave any more. */
  within(waits: Waits, deadline: number, late: () => Error): void {
    this.#deadline = deadline;
    this.#late = late;
    this.#waits = waits;
    waits.begin(this);
  }

  /** Nobody waits for it any more: what has not left yet must not leave. */
  get abandoned(): boolean {
    return this.#expired || this.#asked?.abandoned === true;
  }

  /** ms, if it ends by itself. */
  get deadline(): number | undefined {
    return this.#deadline ?? this.#asked?.deadline;
  }

  expire(): void {
    this.#expired = true;
    this.failed(this.#late!());
  }

  answered(answer: Answer): void {
    if (this.end()) this.resolve(answer);
  }

  failed(error: unknown): void {
    if (this.end()) this.reject(error);
  }

  /** @returns whether it had not been settled before */
  protected end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#waits?.end(this);
    return true;
  }
}
