import { NEVER, type State, type Usage } from '../algorithms/algorithm.js';
import type { Counter } from './counter.js';
import type { Envelope } from './entry.js';

const NOBODY: readonly number[] = [];
/** Every one of them is read and written with each call. */
const MOST_BOOKED = 1000;
/**
 * A gap of hours has a billion moments, and a script must end. After so many tries in all gaps, each further gap gets one try: a wait may
 * then be longer than it must be.
 */
const MOST_LATER = 100;

/**
 * Who may go later, and when: promises that nothing moves. Whoever comes later goes at the first moment that delays nobody here.
 * That is behind the last, unless there are gaps: where somebody gave a booking back, or had to wait longer for another
 * part of the same call.
 */
export class WaitQueue {
  /** Moment, cost, moment, cost, …, in the order of their moments. */
  queue: readonly number[] = NOBODY;
  /** What the state will be after all of them. */
  queueEndState: State | undefined;
  hasGaps = false;

  get isFull(): boolean {
    return this.queue.length >= 2 * MOST_BOOKED;
  }

  get isEmpty(): boolean {
    return this.queue.length === 0;
  }

  /** Of those who are booked: the moment of the first and of the last. */
  get first(): number | undefined {
    return this.queue[0];
  }

  get last(): number {
    return this.queue.at(-2) ?? 0;
  }

  /** @param back how far the clock went back: that took no time from anybody, so every moment moves with it */
  open({ queue, queueEndState, hasGaps }: Envelope, back: number): void {
    this.queue = back > 0 ? queue.map((n, i) => (i % 2 === 0 ? n - back : n)) : queue;
    this.queueEndState = queueEndState;
    this.hasGaps = hasGaps;
  }

  clear(): void {
    this.#setQueue(NOBODY);
  }

  /** Removes the bookings that are due by `now`. @returns moment, cost, moment, cost, … */
  removeDue(now: number): readonly number[] {
    let gone = 0;
    while (gone < this.queue.length && this.queue[gone]! <= now) gone += 2;
    if (gone === 0) return NOBODY;
    const due = this.queue.slice(0, gone);
    this.#setQueue(this.queue.slice(gone));
    return due;
  }

  /** `state` is another, or the queue is: what it will be after all who are booked. */
  projectEnd(counter: Counter, state: State | undefined): void {
    let queueEndState = state;
    for (let i = 0; i < this.queue.length; i += 2) {
      queueEndState = counter.book(queueEndState, this.queue[i]!, this.queue[i + 1]!);
    }
    this.queueEndState = queueEndState;
  }

  /** The same, where somebody may be able to go before those who are booked. */
  lookForGaps(counter: Counter, state: State | undefined): void {
    if (this.isEmpty) return;
    this.hasGaps = true;
    this.projectEnd(counter, state);
  }

  /** The first moment from `from` on at which `cost` permits can go and delay nobody; `NEVER`. */
  earliest(counter: Counter, now: State | undefined, from: number, cost: number, shaped: boolean): number {
    const { queue, last } = this;
    if (cost === 0) return from;
    if (this.isEmpty) return counter.nextMoment(now, from, cost, shaped);
    // A call that saves up goes to the end: all permits that flow in while it waits are for it.
    if (!this.hasGaps || from >= last || (shaped && counter.saving(cost) > 0))
      return counter.nextMoment(this.queueEndState, Math.max(from, last), cost, shaped);
    let state = now;
    let tries = 0;
    for (let i = 0; i < queue.length; i += 2) {
      const next = queue[i]!;
      if (next > from) {
        const start = i === 0 ? from : Math.max(from, queue[i - 2]!);
        let moment = counter.nextMoment(state, start, cost, shaped);
        if (moment === NEVER) return NEVER;
        while (moment < next) {
          const better = this.#delayingNobody(counter, state, i, moment, cost);
          if (better === moment) return moment;
          tries += 1;
          if (tries > MOST_LATER) break;
          moment = better;
        }
      }
      state = counter.book(state, next, queue[i + 1]!);
    }
    return counter.nextMoment(state, last, cost, shaped);
  }

  /** @returns `moment` if a call at that moment delays no booking from the index `from` on; otherwise the next moment worth trying */
  #delayingNobody(
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
    let end = start === undefined ? undefined : counter.fullAt(state, moment);
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

  /** @param early could it have gone earlier, but for another part of its call? Then others can. */
  add(counter: Counter, state: State | undefined, moment: number, cost: number, early: boolean): void {
    const { queue } = this;
    if (early) this.hasGaps = true;
    let place = queue.length;
    while (place > 0 && queue[place - 2]! > moment) place -= 2;
    this.queue = [...queue.slice(0, place), moment, cost, ...queue.slice(place)];
    if (place < queue.length) this.projectEnd(counter, state);
    else this.queueEndState = counter.book(queue.length === 0 ? state : this.queueEndState, moment, cost);
  }

  /**
   * Takes back what was booked for the moment `at`; false when nothing was. Of several who are booked for it, whose booking it was
   * does not matter, as long as each gets its own cost back.
   */
  cancel(counter: Counter, state: State | undefined, at: number, cost: number): boolean {
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
    this.#setQueue(queue);
    this.projectEnd(counter, state);
    return true;
  }

  /** What is left when nobody here may be delayed: what is left for each of them. */
  usage(counter: Counter, now: State | undefined, at: number, before: Usage): Usage {
    if (this.isEmpty) return before;
    const reset = this.last - at + counter.usage(this.queueEndState, this.last).reset;
    let remaining = this.hasGaps ? before.remaining : 0;
    let state = now;
    for (let i = 0; i < this.queue.length && remaining > 0; i += 2) {
      state = counter.book(state, this.queue[i]!, this.queue[i + 1]!);
      remaining = Math.min(remaining, counter.usage(state, this.queue[i]!).remaining);
    }
    return { remaining, reset };
  }

  #setQueue(queue: readonly number[]): void {
    this.queue = queue;
    if (this.isEmpty) this.hasGaps = false;
  }
}
