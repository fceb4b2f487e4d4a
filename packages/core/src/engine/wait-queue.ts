import { NEVER, type State, type Usage } from '../algorithms/algorithm.js';
import { type Booking, MOST_BOOKED } from '../call/limit.js';
import type { Counter } from './counter.js';
import type { Envelope } from './entry.js';

const EMPTY: readonly number[] = [];
/**
 * A gap of hours has a billion moments, and a script must end. After this many tries in all gaps, each further gap gets one try: a wait
 * may then be longer than necessary.
 */
const MOST_LATER = 100;

/**
 * Permits booked for later. No booking moves: a later call gets the first moment that delays no booking. That is after the last one, unless
 * there are gaps: a booking was cancelled, or had to wait longer for another part of its call.
 */
export class WaitQueue {
  /** Moment, cost, moment, cost, …, in the order of the moments. */
  queue = EMPTY;
  /** The state after all bookings. */
  queueEndState: State | undefined;
  hasGaps = false;

  /** @param most may be booked at once, if that is less than this queue takes */
  isFull(most: number): boolean {
    return this.queue.length >= 2 * Math.min(most, MOST_BOOKED);
  }

  get isEmpty(): boolean {
    return this.queue.length === 0;
  }

  /** The moment of the first booking. */
  get first(): number | undefined {
    return this.queue[0];
  }

  /** The moment of the last booking; 0 without one. */
  get last(): number {
    return this.queue.at(-2) ?? 0;
  }

  /** @param back µs by which the clock went back: every booking keeps its distance from now */
  open({ queue, queueEndState, hasGaps }: Envelope, back: number): void {
    this.queue = back > 0 ? queue.map((n, i) => (i % 2 === 0 ? n - back : n)) : queue;
    this.queueEndState = queueEndState;
    this.hasGaps = hasGaps;
  }

  /** Removes the bookings that are due by `now`. @returns moment, cost, moment, cost, … */
  removeDue(now: number): readonly number[] {
    let size = 0;
    while (size < this.queue.length && this.queue[size]! <= now) size += 2;
    const due = this.queue.slice(0, size);
    if (size > 0) this.set(this.queue.slice(size));
    return due;
  }

  /** Computes `queueEndState` again: the state or the queue has changed. */
  projectEnd(counter: Counter): void {
    let { state } = counter;
    for (let i = 0; i < this.queue.length; i += 2) {
      state = counter.book(state, this.queue[i]!, this.queue[i + 1]!);
    }
    this.queueEndState = state;
  }

  /** When the state of another counter expires after all bookings; `undefined` without any. */
  absorbedEnd(counter: Counter): number | undefined {
    let end: State | undefined;
    for (let i = 0; i < this.queue.length; i += 2) {
      end = counter.absorb(end ?? counter.state, this.queue[i]!, this.queue[i + 1]!);
    }
    return end?.[0];
  }

  /** The same, if a later call may now find a moment before the last booking. */
  lookForGaps(counter: Counter): void {
    if (this.isEmpty) return;
    this.hasGaps = true;
    this.projectEnd(counter);
  }

  /**
   * The first moment from `from` on at which a call can take `cost` and delay no booking; `NEVER`.
   * @param booking of an `acquire`
   */
  earliest(counter: Counter, now: number, from: number, cost: number, booking: Booking | undefined): number {
    const { queue, last } = this;
    if (cost === 0) return from;
    const nextMoment = (before: State | undefined, start: number, previous: number) =>
      counter.nextBooking(before, now, start, cost, booking, previous);
    let { state } = counter;
    if (this.isEmpty) return nextMoment(state, from, 0);
    // A call that saves up gets the end: it needs all permits that flow in while it waits.
    if (!this.hasGaps || from >= last || (booking !== undefined && counter.saving(cost) > 0))
      return nextMoment(this.queueEndState, Math.max(from, last), last);
    let tries = 0;
    for (let i = 0; i < queue.length; i += 2) {
      const next = queue[i]!;
      if (next > from) {
        const previous = queue[i - 2] ?? 0;
        let moment = nextMoment(state, Math.max(from, previous), previous);
        if (moment === NEVER) return NEVER;
        while (moment < next) {
          const better = this.#tryMoment(counter, state, i, moment, cost);
          if (better === moment) return moment;
          tries += 1;
          if (tries > MOST_LATER) break;
          moment = better;
        }
      }
      state = counter.book(state, next, queue[i + 1]!);
    }
    return nextMoment(state, last, last);
  }

  /** @returns `moment` if a call at that moment delays no booking from the index `from` on; otherwise the next moment worth trying */
  #tryMoment(
    counter: Counter,
    before: State | undefined,
    from: number,
    moment: number,
    cost: number,
  ): number {
    let state: State | undefined = counter.book(before, moment, cost);
    // The call begins a window. The first booking after that window begins the next one, which may be too full for the bookings behind it.
    // A first window that begins later and includes this booking may help. If a window is running, the call's own can begin when it ends.
    const start = counter.anchored ? counter.fullAt(before, moment) : undefined;
    let end = counter.anchored ? counter.fullAt(state, moment) : undefined;
    let later = Number.POSITIVE_INFINITY;
    for (let i = from; i < this.queue.length; i += 2) {
      const [at, booked] = [this.queue[i]!, this.queue[i + 1]!];
      if (end !== undefined && at >= end) {
        later = start! > moment ? start! : moment + at - end + 1;
        end = undefined;
      }
      if (counter.nextMoment(state, at, booked, true) !== at) return later;
      state = counter.book(state, at, booked);
      if (end !== undefined) end = counter.fullAt(state, at);
    }
    return moment;
  }

  /** @param early this part alone could have had an earlier moment, so another call can */
  add(counter: Counter, moment: number, cost: number, early: boolean): void {
    const { queue } = this;
    if (early) this.hasGaps = true;
    let place = queue.length;
    while (place > 0 && queue[place - 2]! > moment) place -= 2;
    this.queue = [...queue.slice(0, place), moment, cost, ...queue.slice(place)];
    if (place < queue.length) this.projectEnd(counter);
    else this.queueEndState = counter.book(place === 0 ? counter.state : this.queueEndState, moment, cost);
  }

  /**
   * Cancels `cost` permits that were booked for `at`. Of several bookings for that moment, one of the same cost goes first.
   * @returns false if nothing is booked for `at`
   */
  cancel(counter: Counter, at: number, cost: number): boolean {
    const queue = [...this.queue];
    let place = queue.length - 2;
    while (place >= 0 && !(queue[place] === at && queue[place + 1] === cost)) place -= 2;
    if (place < 0) place = queue.length - 2;
    let left = cost;
    for (; place >= 0 && left > 0; place -= 2) {
      if (queue[place] !== at) continue;
      const back = Math.min(left, queue[place + 1]!);
      left -= back;
      queue[place + 1]! -= back;
      if (queue[place + 1] === 0) queue.splice(place, 2);
      if (place < queue.length) this.hasGaps = true;
    }
    if (left === cost) return false;
    this.set(queue);
    this.projectEnd(counter);
    return true;
  }

  /** Permits that a call can take without delaying a booking: the fewest that are left at any of them. */
  usage(counter: Counter, now: number): Usage {
    let { state } = counter;
    const usage = counter.usage(state, now);
    if (this.isEmpty) return usage;
    const reset = this.last - now + counter.usage(this.queueEndState, this.last).reset;
    let remaining = this.hasGaps ? usage.remaining : 0;
    for (let i = 0; i < this.queue.length && remaining > 0; i += 2) {
      state = counter.book(state, this.queue[i]!, this.queue[i + 1]!);
      remaining = Math.min(remaining, counter.usage(state, this.queue[i]!).remaining);
    }
    return { remaining, reset };
  }

  set(queue: readonly number[]): void {
    this.queue = queue;
    if (this.isEmpty) this.hasGaps = false;
  }
}
