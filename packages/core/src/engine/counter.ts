import { type Algorithm, NEVER, type Parameters, type State, type Usage } from '../algorithms/algorithm.js';
import { type Booking, PLAIN_BOOKING } from '../call/limit.js';

/** The state at a later moment: `undefined` if it has expired by then. */
export const live = (state: State | undefined, at: number): State | undefined =>
  state !== undefined && state[0]! > at ? state : undefined;

/** An algorithm, its parameters, and the state of a key under these. Methods with a parameter `state` leave the key's own as it is. */
export class Counter {
  /** The state as it was read, and what `normalize` has made of it; undefined if it was not to remember them. */
  #read: State | undefined;
  #adapted: State | undefined;

  constructor(
    readonly algorithm: Algorithm,
    readonly parameters: Parameters,
    public state?: State,
  ) {}

  /**
   * Drops a state that has expired at `from`, and normalizes any other. @returns whether that changed it
   * @param remembers for `unadapted`
   */
  normalize(from: number, now: number, remembers = false): boolean {
    const known = live(this.state, from);
    this.state = known && this.algorithm.normalize(this.parameters, known, now);
    if (this.state === known) return false;
    if (remembers) [this.#read, this.#adapted] = [known, this.state];
    return true;
  }

  /** The state as it was read, if nothing but `normalize` has changed it. */
  get unadapted(): State | undefined {
    return this.state === this.#adapted ? this.#read : this.state;
  }

  drop(now: number): void {
    this.state = live(this.state, now);
  }

  /** Gives a key without a state the one that a new key begins with. @returns whether there is one */
  start(at: number): boolean {
    if (this.state !== undefined) return false;
    this.state = this.algorithm.initialState?.(this.parameters, at);
    return this.state !== undefined;
  }

  /** Gives back permits that were taken at `at`, or with `refundSince` also after it. @returns whether that changed the state */
  refund(how: 'refund' | 'refundSince', now: number, cost: number, at: number): boolean {
    const { algorithm, parameters, state } = this;
    if (state === undefined) return false;
    const refund = algorithm[how] ?? algorithm.refund;
    this.state = live(refund(parameters, state, now, cost, at), now);
    return this.state !== state;
  }

  /** The state after a call took permits. */
  take(state: State | undefined, at: number, cost: number): State {
    return this.algorithm.take(this.parameters, this.#stateAt(state, at), at, cost);
  }

  /** The state after a call took the permits that were booked for `at`. */
  book(state: State | undefined, at: number, cost: number): State {
    const { algorithm, parameters } = this;
    return algorithm.booking?.book?.(parameters, state, at, cost) ?? this.take(state, at, cost);
  }

  /** The state after a call that other parameters allowed. */
  absorb(state: State | undefined, at: number, cost: number): State {
    const { algorithm, parameters } = this;
    return (algorithm.override?.absorb ?? algorithm.take)(parameters, this.#stateAt(state, at), at, cost);
  }

  /** µs that `acquire` of `cost` waits at least, because the cost is above the capacity. */
  saving(cost: number): number {
    return this.algorithm.booking?.saving?.(this.parameters, cost) ?? 0;
  }

  usage(state: State | undefined, at: number): Usage {
    return this.algorithm.usage(this.parameters, this.#stateAt(state, at), at);
  }

  /** Does the first call of a full key begin a window, or start the ticks? */
  get anchored(): boolean {
    return this.algorithm.booking?.anchored?.(this.parameters) === true;
  }

  /** The moment at which every permit is back, if no other call comes. */
  fullAt(state: State | undefined, at: number): number {
    return at + this.usage(state, at).reset;
  }

  /** A known key is full once its state has expired. A new key may begin with less. */
  #stateAt(state: State | undefined, at: number): State | undefined {
    return this.algorithm.initialState === undefined ? live(state, at) : state;
  }

  /** The first moment from `from` on at which a call can take `cost`; `NEVER`. `shaped`: as `acquire` takes it. */
  nextMoment(state: State | undefined, from: number, cost: number, shaped: boolean): number {
    const { algorithm, parameters } = this;
    const wait = (shaped && algorithm.booking?.acquireWait) || algorithm.wait;
    const micros = wait(parameters, this.#stateAt(state, from), from, cost);
    return micros === NEVER ? NEVER : from + micros;
  }

  /**
   * The same with the margin and the gap of an `acquire`.
   * @param booking of an `acquire`
   * @param previous the moment of the booking before; 0 without one
   */
  nextBooking(
    state: State | undefined,
    now: number,
    from: number,
    cost: number,
    booking: Booking | undefined,
    previous: number,
  ): number {
    const moment = this.nextMoment(state, from, cost, booking !== undefined);
    const { margin, gap } = booking ?? PLAIN_BOOKING;
    if (margin + gap === 0 || this.algorithm.holders !== undefined || moment === now || moment === NEVER)
      return moment;
    // Permits that have been back for the margin need no more of it.
    const back = this.nextMoment(state, Math.max(now, from - margin), cost, true);
    return Math.max(moment, previous + gap, back === now ? 0 : back + margin);
  }
}
