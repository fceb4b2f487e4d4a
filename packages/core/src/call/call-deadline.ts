import { Deadline, type Deadlines, type TimedCall } from './deadlines.js';

/** The deadline of a call that may need several requests. It starts once, and each stage gets the time that is left. */
export class CallDeadline extends Deadline {
  readonly #start: (deadline: CallDeadline) => Deadlines;
  #deadlines: Deadlines | undefined;
  #state: 'new' | 'running' | 'over' | 'ended' = 'new';
  #stage: (() => void) | undefined;

  /** @param start puts it into a list */
  constructor(start: (deadline: CallDeadline) => Deadlines) {
    super();
    this.#start = start;
  }

  get over(): boolean {
    return this.#state === 'over';
  }

  /** Starts the time, unless it has started already. */
  begin(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#deadlines = this.#start(this);
  }

  /** The next stage: a call that fails when the time is over. */
  applyTo(call: TimedCall): void {
    this.#next(() => {
      const { departure } = call;
      const neverSent = departure !== undefined && !departure.sent;
      call.failed(this.#deadlines!.late(neverSent));
    });
  }

  /** Resolves when the promise has settled or the time is over. */
  until(promise: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      this.#next(resolve);
      promise.then(
        () => resolve(),
        () => resolve(), // its own caller gets the error
      );
    });
  }

  #next(late: () => void): void {
    this.begin();
    this.#stage = late;
    if (this.over) late();
  }

  expire(): void {
    this.#state = 'over';
    this.#stage?.();
  }

  /** The call has ended. */
  end(): void {
    this.#stage = undefined;
    if (this.#state !== 'running') return;
    this.#state = 'ended';
    this.#deadlines?.end(this);
  }
}
