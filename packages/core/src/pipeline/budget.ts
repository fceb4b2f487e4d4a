import type { CallBudget } from '../stores/store.js';
import type { Deadlines, Timed } from './deadlines.js';

/** The time of one call, however often it asks the store. It starts once, and each stage gets the time that is left. */
export class Budget implements CallBudget, Timed {
  due = 0;
  spared = false;
  before: Timed | undefined;
  after: Timed | undefined;
  readonly #start: (budget: Timed) => Deadlines;
  #deadlines: Deadlines | undefined;
  #state: 'new' | 'running' | 'over' | 'ended' = 'new';
  #late: (() => void) | undefined;

  /** @param start starts the deadline of this call */
  constructor(start: (budget: Timed) => Deadlines) {
    this.#start = start;
  }

  get over(): boolean {
    return this.#state === 'over';
  }

  begin(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#deadlines = this.#start(this);
  }

  stage(late: () => void): void {
    this.begin();
    this.#late = late;
    if (this.over) late();
  }

  until(promise: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      this.stage(resolve);
      promise.then(
        () => resolve(),
        () => resolve(), // its own caller gets the error
      );
    });
  }

  expire(): void {
    this.#state = 'over';
    this.#late?.();
  }

  end(): void {
    this.#late = undefined;
    if (this.#state !== 'running') return;
    this.#state = 'ended';
    this.#deadlines?.end(this);
  }
}
