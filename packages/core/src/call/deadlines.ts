import { hasBackground, performance } from '#platform';
import type { StoreUnavailableError } from '../errors.js';
import { clearTimeout, setImmediate, setTimeout } from '../runtime.js';

/** ms; a timer that fires later than this was delayed by the process itself. */
const EVENT_LOOP_LAG = 5;

/** What calls of one turn that are sent together have in common. */
export interface Departure {
  /** When the first of them was made: ms of the monotonic clock. One reading for all of them. */
  readonly began: number;
  /** The same moment, in µs of this process's clock: times in the answer count from here, and so never end too late. */
  readonly localTime: number;
  /** Before, an ended call is left out. Afterwards, it may have been counted. */
  sent: boolean;
  /** One of its calls has ended: that call must not be sent, or not sent again. */
  hasEnded: boolean;
  /** The deadlines of its calls: a list, with one for each length. */
  deadline: DepartureDeadline | undefined;
  each(visit: (call: TimedCall) => void): void;
}

/** What a deadline needs of a call. */
export interface TimedCall {
  readonly over: boolean;
  readonly departure: Departure | undefined;
  /** Ends it together with the others of its departure. */
  readonly deadlines: Deadlines | undefined;
  failed(error: unknown): void;
}

/** A link in the list of running deadlines. */
export abstract class Deadline {
  /** ms of the monotonic clock; 0 while it is in no list. */
  due = 0;
  /** It got more time once. */
  extended = false;
  before: Deadline | undefined = undefined;
  after: Deadline | undefined = undefined;
  /** A timer of its own, without a background. */
  timer: NodeJS.Timeout | undefined = undefined;

  /** The time is over. */
  abstract expire(): void;
}

/** The deadline of all calls of one departure that have the same time. */
export class DepartureDeadline extends Deadline {
  constructor(
    readonly departure: Departure,
    readonly deadlines: Deadlines,
    /** Another one of the same departure. */
    readonly next: DepartureDeadline | undefined,
  ) {
    super();
  }

  expire(): void {
    const { departure, deadlines } = this;
    departure.each((call) => {
      if (call.deadlines === deadlines && !call.over) call.failed(deadlines.late(!departure.sent));
    });
  }
}

/**
 * Deadlines of one length. They end in the order in which they started, so one timer for the first is enough. It keeps the process
 * alive only while a call waits. Without a background, a timer ends with the request that started it: each deadline has its own.
 */
export class Deadlines {
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly ms: number,
    /** The error of a call that ran out of time. */
    readonly late: (neverSent: boolean) => StoreUnavailableError,
  ) {}

  /**
   * @param since when the time began, ms of the monotonic clock
   * @param until earliest end; never less than in the call before
   */
  begin(one: Deadline, since: number, until = 0): void {
    one.due = Math.max(since + this.ms, until);
    if (!hasBackground) {
      one.timer = setTimeout(() => this.#expireAlone(one), Math.max(0, one.due - performance.now()));
      return;
    }
    if (this.#timer === undefined) this.#timer = setTimeout(this.#look, this.ms);
    else if (this.#first === undefined) this.#timer.ref();
    one.before = this.#last;
    if (this.#last === undefined) this.#first = one;
    else this.#last.after = one;
    this.#last = one;
  }

  /** Does nothing if it has ended already. */
  end(one: Deadline): void {
    if (one.due === 0) return;
    if (one.timer !== undefined) {
      clearTimeout(one.timer);
      one.due = 0;
      return;
    }
    const { before, after } = one;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    one.due = 0;
    one.before = undefined;
    one.after = undefined;
    if (this.#first === undefined) this.#timer?.unref();
  }

  #expireAlone(one: Deadline): void {
    this.end(one);
    one.expire();
  }

  readonly #look = (): void => {
    const late = performance.now() - (this.#first?.due ?? Number.POSITIVE_INFINITY);
    if (late > EVENT_LOOP_LAG) this.#extend(Math.min(late, this.ms));
    // Replies that arrived while the event loop was blocked are read before any call fails.
    setImmediate(this.#expire);
  };

  /**
   * If the event loop was blocked, overdue calls get that time back: the store did not cause the delay. Once only: otherwise no call would
   * ever fail in a process that is always late.
   */
  #extend(ms: number): void {
    const due = performance.now() + ms;
    for (let one = this.#first; one !== undefined && one.due < due; one = one.after) {
      if (one.extended) continue;
      one.due = due;
      one.extended = true;
    }
  }

  readonly #expire = (): void => {
    const now = performance.now();
    // The old timer stays in place until the end: a call made by an expired one must not set a second timer.
    for (let one = this.#first; one !== undefined && one.due <= now; one = this.#first) {
      this.end(one);
      one.expire();
    }
    const next = this.#first;
    this.#timer = next && setTimeout(this.#look, Math.max(1, Math.ceil(next.due - now)));
  };
}

/** The deadline of a call that may need several requests. It starts once, and each stage gets the time that is left. */
export class CallDeadline extends Deadline {
  #deadlines: Deadlines | undefined;
  #state: 'new' | 'running' | 'over' | 'ended' = 'new';
  #stage: (() => void) | undefined;

  /** @param start puts it into a list */
  constructor(private readonly start: (deadline: CallDeadline) => Deadlines) {
    super();
  }

  get over(): boolean {
    return this.#state === 'over';
  }

  /** Starts the time, unless it has started already. */
  begin(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#deadlines = this.start(this);
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
      const settled = () => resolve();
      promise.then(settled, settled); // its own caller gets the error
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
