import { type Algorithm, ANY, NEVER, type Parameters, type State } from '../algorithms/algorithm.js';
import type { Part, PartAnswer } from './call.js';
import { type Entry, type Envelope, isEnvelope } from './entry.js';

/** A rate that lives in the store, for the whole fleet. */
export interface SharedRate {
  /** What was written until then counts no more. */
  readonly clearedAt: number;
  readonly parameters: Parameters;
}

/** A state at a later moment: none when it is worth nothing by then. */
const live = (state: State | undefined, at: number): State | undefined =>
  state !== undefined && state[0]! > at ? state : undefined;

const NOTHING: readonly number[] = [];

/**
 * One part of a call while it is decided: what its key's entry says at the moment `now`, and what becomes of it.
 *
 * `state` holds what has gone, `queue` who may go later and when: promises that nothing moves. Whoever comes later goes at the
 * first moment that delays nobody in the queue. That is behind the last, unless there are gaps: where somebody gave a
 * booking back, or had to wait longer for another part of the same call.
 */
export class Lane {
  readonly algorithm: Algorithm;
  /** By which the algorithm counts: the rule's, unless something takes their place. */
  parameters: Parameters;
  readonly now: number;
  changed = false;
  granted: readonly number[] = NOTHING;
  /** Set by `decide`: when this part alone would let the call go. */
  own = 0;
  /** What a refund of this taking names. */
  at = 0;
  #state: State | undefined;
  #queue: readonly number[] = NOTHING;
  #tail: State | undefined;
  #gaps = false;
  #blockedUntil = 0;
  #override: Parameters = NOTHING;
  #overrideUntil = 0;
  /** An override that has ended: by it the state was counted. */
  #lapsed: Parameters = NOTHING;

  constructor(
    readonly part: Part,
    /** Where its entry lives. */
    readonly key: string,
    entry: Entry | undefined,
    now: number,
    readonly shared?: SharedRate,
  ) {
    const { rule } = part;
    this.algorithm = rule.algorithm;
    this.now = now;
    let envelope = entry !== undefined && isEnvelope(entry) ? entry : undefined;
    if (shared !== undefined && envelope !== undefined && envelope.seen <= shared.clearedAt) envelope = undefined;
    if (envelope !== undefined) this.#open(envelope);
    this.parameters =
      this.#override.length > 0
        ? this.#override
        : (shared?.parameters ?? rule.parametersAt?.(now) ?? rule.parameters);
    const bare = entry !== undefined && !isEnvelope(entry) ? entry : undefined;
    this.#state = envelope?.state ?? bare;
    this.#begin();
    this.#settle();
    this.#promote();
  }

  #open({ queue, tail, gaps, seen, blockedUntil, override, overrideUntil }: Envelope): void {
    // A clock that went back took no time from anybody: every moment to come moves with it.
    const back = Math.max(0, seen - this.now);
    this.changed = back > 0;
    this.#queue = back > 0 ? queue.map((n, i) => (i % 2 === 0 ? n - back : n)) : queue;
    this.#tail = tail;
    this.#gaps = gaps;
    if (blockedUntil - back > this.now) this.#blockedUntil = blockedUntil - back;
    if (overrideUntil - back > this.now) {
      this.#override = override;
      this.#overrideUntil = overrideUntil - back;
    } else {
      this.#lapsed = override;
    }
  }

  /** The state as of the first who is due: for him it may count, although it is worth nothing now. */
  #begin(): void {
    const { algorithm, parameters, now } = this;
    const from = Math.min(now, this.#queue[0] ?? now);
    const state = live(this.#state, from);
    if (state !== undefined && this.#lapsed.length > 0) this.#translate(this.#lapsed, parameters, from);
    if (state === undefined) this.#state = algorithm.see?.(parameters, from);
    else this.#state = algorithm.repair(parameters, this.#state!, now);
    if (this.#state !== state) this.changed = true;
    if (this.#queue.length === 0) return;
    if (this.changed) this.#foresee();
    else this.#tail = algorithm.repair(parameters, this.#tail!, this.#queue.at(-2)!);
  }

  #translate(from: Parameters, to: Parameters, at: number): void {
    const { algorithm } = this;
    if (algorithm.translate === undefined || this.#state === undefined) return;
    this.#state = algorithm.translate(from, to, algorithm.repair(from, this.#state, this.now), at);
  }

  /** Those whose moment has come have gone. */
  #settle(): void {
    const queue = this.#queue;
    let gone = 0;
    while (gone < queue.length && queue[gone]! <= this.now) {
      this.#state = this.#taken(this.#state, queue[gone]!, queue[gone + 1]!);
      gone += 2;
    }
    if (gone > 0) {
      this.changed = true;
      this.#queue = queue.slice(gone);
      if (this.#queue.length === 0) this.#gaps = false;
    }
    this.#state = live(this.#state, this.now);
  }

  #promote(): void {
    const { holders } = this.algorithm;
    if (holders === undefined || this.#state === undefined) return;
    const blocked = this.#blockedUntil > this.now;
    // While it is blocked nobody is let in. To renew nobody's lease leaves out those whose leases ended, and no more.
    const { state, granted } = blocked
      ? { state: holders.renew(this.parameters, this.#state, this.now, ANY), granted: NOTHING }
      : holders.promote(this.parameters, this.#state, this.now);
    if (state !== this.#state) this.changed = true;
    this.#state = state;
    if (granted.length > 0) this.granted = [...this.granted, ...granted];
  }

  #taken(state: State | undefined, at: number, cost: number): State {
    return this.algorithm.take(this.parameters, live(state, at), at, cost);
  }

  /** What the state will be after all that is booked. */
  #foresee(): void {
    let tail = this.#state;
    for (let i = 0; i < this.#queue.length; i += 2) tail = this.#taken(tail, this.#queue[i]!, this.#queue[i + 1]!);
    this.#tail = tail;
  }

  #wait(state: State | undefined, at: number, cost: number, shaped: boolean): number {
    const { algorithm, parameters } = this;
    const wait = shaped && algorithm.due !== undefined ? 'due' : 'wait';
    return algorithm[wait]!(parameters, live(state, at), at, cost);
  }

  /** Is a wait longer than the policy itself lets anybody wait? Not counted is what a block makes him wait. */
  get overfull(): boolean {
    const { algorithm, parameters, part, now, own } = this;
    if (algorithm.longest === undefined || own === NEVER) return false;
    return own - Math.max(now, this.#blockedUntil) > algorithm.longest(parameters, part.cost);
  }

  /** The first moment from `from` on at which `cost` permits can go and delay nobody; `NEVER`. */
  earliest(from: number, cost: number, shaped: boolean): number {
    const first = Math.max(from, this.#blockedUntil);
    const queue = this.#queue;
    const last = queue.length === 0 ? 0 : queue.at(-2)!;
    if (!this.#gaps || first >= last) return this.#after(queue.length === 0 ? this.#state : this.#tail, Math.max(first, last), cost, shaped);
    let state = this.#state;
    for (let i = 0; i < queue.length; i += 2) {
      const next = queue[i]!;
      if (next > first) {
        const start = i === 0 ? first : Math.max(first, queue[i - 2]!);
        const moment = this.#after(state, start, cost, shaped);
        if (moment === NEVER || (moment < next && this.#delaysNobody(state, i, moment, cost))) return moment;
      }
      state = this.#taken(state, next, queue[i + 1]!);
    }
    return this.#after(state, last, cost, shaped);
  }

  #after(state: State | undefined, from: number, cost: number, shaped: boolean): number {
    const wait = this.#wait(state, from, cost, shaped);
    return wait === NEVER ? NEVER : from + wait;
  }

  #delaysNobody(before: State | undefined, from: number, moment: number, cost: number): boolean {
    if (cost === 0) return true;
    let state: State | undefined = this.#taken(before, moment, cost);
    for (let i = from; i < this.#queue.length; i += 2) {
      if (this.#wait(state, this.#queue[i]!, this.#queue[i + 1]!, true) !== 0) return false;
      state = this.#taken(state, this.#queue[i]!, this.#queue[i + 1]!);
    }
    return true;
  }

  /** Takes the part's permits at `moment`, or books them for then. */
  take(moment: number): void {
    const { cost } = this.part;
    if (cost === 0) return;
    this.changed = true;
    if (moment <= this.now) {
      this.#state = this.#taken(this.#state, this.now, cost);
      if (this.#queue.length > 0) this.#foresee();
    } else {
      this.#book(moment, cost);
    }
    this.at = this.algorithm.holders?.last(this.#state!) ?? moment;
  }

  #book(moment: number, cost: number): void {
    const queue = this.#queue;
    if (moment > this.own) this.#gaps = true;
    let place = queue.length;
    while (place > 0 && queue[place - 2]! > moment) place -= 2;
    this.#queue = [...queue.slice(0, place), moment, cost, ...queue.slice(place)];
    if (place < queue.length) this.#foresee();
    else this.#tail = this.#taken(queue.length === 0 ? this.#state : this.#tail, moment, cost);
  }

  /** Stands in line for permits that somebody holds. False when the line is full. */
  join(): boolean {
    const { holders } = this.algorithm;
    const before = this.#state;
    this.#state = holders!.join(this.parameters, before, this.now, this.part.cost);
    if (this.#state === before) return false;
    this.changed = true;
    this.at = holders!.last(this.#state);
    return true;
  }

  /** Gives back what was taken or booked at `part.at`. */
  refund(): void {
    const { at, cost } = this.part;
    if (at > this.now && this.algorithm.holders === undefined) {
      this.#cancel(at, cost);
    } else if (this.#state !== undefined) {
      const before = this.#state;
      this.#state = live(this.algorithm.give(this.parameters, before, this.now, cost, at), this.now);
      if (this.#state === before) return;
      this.changed = true;
      this.#promote();
      this.#reconsider();
    }
  }

  /** Now somebody may be able to go before those who are booked. */
  #reconsider(): void {
    if (this.#queue.length === 0) return;
    this.#gaps = true;
    this.#foresee();
  }

  /** Of several who are booked for that moment, whose booking it was does not matter, as long as each gets its own cost back. */
  #cancel(at: number, cost: number): void {
    const queue = [...this.#queue];
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
      if (place < queue.length) this.#gaps = true;
    }
    if (left === cost) return;
    this.changed = true;
    this.#queue = queue;
    if (queue.length === 0) this.#gaps = false;
    this.#foresee();
  }

  /** Its lease begins anew: 1 it holds its permits, 0 it waits for them, -1 it is not known (any more). */
  renew(): 1 | 0 | -1 {
    const { holders } = this.algorithm;
    const { at } = this.part;
    const standing = this.#state === undefined ? -1 : holders!.standing(this.#state, at);
    this.at = at;
    this.own = this.now;
    if (standing === -1) return -1;
    this.#state = holders!.renew(this.parameters, this.#state!, this.now, at);
    this.changed = true;
    if (standing === 0) {
      const patience = holders!.patience(this.parameters, this.#state, this.now, at);
      this.own = Math.max(this.now + patience, this.#blockedUntil);
    }
    return standing;
  }

  block(micros: number): void {
    this.changed = true;
    this.#blockedUntil = micros === 0 ? 0 : this.now + micros;
    this.#promote();
    this.#reconsider();
  }

  override(micros: number): void {
    this.changed = true;
    const { rule } = this.part;
    const parameters = rule.parametersAt?.(this.now) ?? rule.parameters;
    this.#translate(this.parameters, parameters, this.now);
    this.parameters = parameters;
    this.#state = live(this.#state, this.now);
    this.#override = micros === 0 ? NOTHING : parameters;
    this.#overrideUntil = micros === 0 ? 0 : this.now + micros;
    this.#reconsider();
  }

  reset(): void {
    this.changed = true;
    this.#state = undefined;
    this.#queue = NOTHING;
    this.#blockedUntil = 0;
  }

  answer(): PartAnswer {
    const { remaining, reset } = this.#left();
    return {
      remaining,
      wait: this.own === NEVER ? NEVER : this.own - this.now,
      reset,
      at: this.at,
      override: this.#override.length > 0 || this.shared !== undefined ? this.parameters : undefined,
    };
  }

  #left(): { remaining: number; reset: number } {
    const { algorithm, parameters, now } = this;
    const left = algorithm.left(parameters, this.#state, now);
    let { remaining, reset } = left;
    const queue = this.#queue;
    if (queue.length > 0) {
      const last = queue.at(-2)!;
      reset = last - now + algorithm.left(parameters, live(this.#tail, last), last).reset;
      if (!this.#gaps) remaining = 0;
      // Nobody in the queue may be delayed: what is left is what is left for each of them.
      let state = this.#state;
      for (let i = 0; i < queue.length && remaining > 0; i += 2) {
        state = this.#taken(state, queue[i]!, queue[i + 1]!);
        remaining = Math.min(remaining, algorithm.left(parameters, state, queue[i]!).remaining);
      }
    }
    return { remaining: this.#blockedUntil > now ? 0 : remaining, reset: Math.max(reset, this.#blockedUntil - now) };
  }

  /** What the store keeps. */
  entry(): Entry | undefined {
    const bare = this.#queue.length === 0 && this.#blockedUntil === 0 && this.#override.length === 0;
    if (bare && this.shared === undefined) return this.#state;
    return {
      state: this.#state,
      queue: this.#queue,
      tail: this.#queue.length > 0 ? this.#tail : undefined,
      gaps: this.#gaps,
      seen: this.now,
      blockedUntil: this.#blockedUntil,
      override: this.#override,
      overrideUntil: this.#overrideUntil,
    };
  }
}
