import { ANY, JITTER, NEVER, type Parameters, type State } from '../algorithms/algorithm.js';
import { EVERYONE, type Operation, type Part, type PartAnswer, type Trace } from './call.js';
import { Counter, live } from './counter.js';
import { type Entry, type Envelope, isEnvelope } from './entry.js';
import { Override } from './override.js';
import { Bookings } from './wait-queue.js';

/** The numbers of a shared rate by which a call is decided: those that its store has at that moment. */
export interface EffectiveRate {
  /** Which setting of the rate this is: what was written under another counts no more. A mark and not a time: clocks go back. */
  readonly era: number;
  readonly parameters: Parameters;
}

const NONE: readonly number[] = [];

/**
 * One part of a call while it is decided: what its key's entry says at the moment `now`, and what becomes of it. The state holds
 * what has gone, the bookings who may go later.
 */
export class Lane {
  changed = false;
  /**
   * Did the clock or the policy change what is known? A `peek` keeps that too: measured anew by each, a wait would not become
   * shorter until somebody took something.
   */
  repaired = false;
  /** Ids of the admitted calls; `EVERYONE` if the whole queue was cleared. */
  granted: readonly number[] = NONE;
  /** Set by `decide`: when this part alone would let the call go. */
  own = 0;
  #at = 0;
  #counter: Counter;
  #state: State | undefined;
  /** Counts with the policy's own parameters. During an override `#counter` has the parameters of the override. */
  readonly #ownCounter: Counter;
  /** Is the key met for the first time, and begins with a state? To give something back to it is not to use it. */
  #met = false;
  readonly #bookings = new Bookings();
  #blockedUntil = 0;
  #override: Override | undefined;
  /** The moment; of a clock that trembles, the latest that it showed. */
  #seen: number;

  constructor(
    readonly part: Part,
    entry: Entry | undefined,
    readonly now: number,
    readonly shared?: EffectiveRate,
  ) {
    this.#seen = now;
    const { rule } = part.limit;
    const parameters = shared?.parameters ?? rule.parametersAt?.(now) ?? rule.parameters;
    this.#ownCounter = new Counter(rule.algorithm, parameters);
    this.#counter = this.#ownCounter;
    let lapsed = false;
    if (entry === undefined || !isEnvelope(entry)) {
      this.#state = entry;
    } else if (entry.era === shared?.era) {
      this.#state = entry.state;
      lapsed = this.#open(entry);
    }
    this.#begin(lapsed);
    this.#state = live(this.#state, now);
    this.#override?.drop(now);
    this.#promote();
  }

  /** Has the store to write it after such a call? */
  keeps(operation: Operation): boolean {
    if (operation === 'peek') return this.repaired;
    return this.changed || (this.#met && operation !== 'refund');
  }

  get holders() {
    return this.#counter.algorithm.holders;
  }

  /** @returns whether an override has ended since the last call */
  #open(envelope: Envelope): boolean {
    const { seen, blockedUntil, override, overrideUntil, own } = envelope;
    const back = seen - this.now > JITTER ? seen - this.now : 0;
    this.#seen = Math.max(this.now, seen - back);
    this.changed = back > 0;
    this.repaired = back > 0;
    this.#bookings.open(envelope, back);
    if (blockedUntil - back > this.now) this.#blockedUntil = blockedUntil - back;
    if (override.length === 0) return false;
    if (overrideUntil - back <= this.now) {
      this.changed = true;
      this.repaired = true;
      if (this.holders === undefined) this.#state = own;
      return true;
    }
    this.#override = new Override(override, overrideUntil - back, this.#ownCounter, own);
    this.#counter = new Counter(this.#counter.algorithm, override);
    return false;
  }

  /** The state as of the first who is due: for him it may count, although it is worth nothing now. */
  #begin(lapsed: boolean): void {
    const { algorithm, parameters } = this.#counter;
    const bookings = this.#bookings;
    const from = Math.min(this.now, bookings.first ?? this.now);
    const state = live(this.#state, from);
    if (state === undefined) this.#state = algorithm.see?.(parameters, from);
    else this.#state = algorithm.repair(parameters, state, this.now);
    if (this.#state !== state) {
      this.#met = state === undefined;
      this.repaired ||= !this.#met;
      this.changed ||= this.repaired;
    }
    if (this.#override?.repair(from, this.now)) {
      this.repaired = true;
      this.changed = true;
    }
    if (bookings.none) return;
    const anew = this.changed || this.#met;
    const due = bookings.settle(this.now);
    // Bookings made under an ended override count at most as one whole limit.
    const how = lapsed ? 'absorb' : 'book';
    for (let i = 0; i < due.length; i += 2) this.#spend(how, due[i]!, due[i + 1]!);
    if (bookings.none) return;
    if (anew) bookings.foresee(this.#counter, this.#state);
    else bookings.tail = algorithm.repair(parameters, bookings.tail!, bookings.last);
  }

  #spend(how: 'take' | 'book' | 'absorb', at: number, cost: number): void {
    this.#become(this.#counter[how](this.#state, at, cost));
    this.#override?.absorb(at, cost);
  }

  #promote(): void {
    const { holders, now } = this;
    const { parameters } = this.#counter;
    if (holders === undefined || this.#state === undefined) return;
    // While it is blocked nobody is let in. To renew nobody's lease leaves out those whose leases ended, and no more.
    const { state, granted } =
      this.#blockedUntil > now
        ? { state: holders.renew(parameters, this.#state, now, ANY), granted: NONE }
        : holders.promote(parameters, this.#state, now);
    if (state !== this.#state) this.#become(state);
    if (granted.length > 0) this.granted = [...this.granted, ...granted];
  }

  #become(state: State | undefined): void {
    this.#state = state;
    this.changed = true;
  }

  /** µs that `acquire` waits at least, because its cost is above the capacity. */
  get saving(): number {
    return this.#counter.saving(this.part.cost);
  }

  /** The first moment from `from` on at which the part's permits can go and delay nobody; `NEVER`. */
  earliest(from: number, shaped: boolean): number {
    // Permits are saved up from now on, and remain until a later moment that another part requires.
    if (from > this.now && shaped && this.saving > 0) return Math.max(from, this.own);
    const first = Math.max(from, this.#blockedUntil);
    return this.#bookings.earliest(this.#counter, this.#state, first, this.part.cost, shaped);
  }

  /** Do as many wait as may, or is `own` later than the policy itself lets anybody wait? A block is not counted as that. */
  get overfull(): boolean {
    const { algorithm, parameters } = this.#counter;
    if (this.#bookings.full) return true;
    if (algorithm.longest === undefined || this.own === NEVER) return false;
    return this.own - Math.max(this.now, this.#blockedUntil) > algorithm.longest(parameters, this.part.cost);
  }

  /** Takes permits as a penalty, even if fewer are left. All of them also count under the policy's own parameters. */
  charge(): void {
    const before = this.#override?.state;
    this.take(this.now);
    if (this.part.cost > 0) this.#override?.charge(before, this.now, this.part.cost);
  }

  /** Takes the part's permits at `moment`, or books them for then. */
  take(moment: number): void {
    const { cost } = this.part;
    if (cost === 0) return;
    if (moment <= this.now) {
      this.#spend('take', this.now, cost);
      if (!this.#bookings.none) this.#bookings.foresee(this.#counter, this.#state);
    } else {
      this.#bookings.add(this.#counter, this.#state, moment, cost, this.own < moment);
      this.changed = true;
    }
    this.#at = this.holders?.last(this.#state!) ?? moment;
  }

  /** Stands in line for permits that somebody holds. False when the line is full. */
  join(): boolean {
    const holders = this.holders!;
    const state = holders.join(this.#counter.parameters, this.#state, this.now, this.part.cost);
    if (state === this.#state) return false;
    this.#become(state);
    this.#at = holders.last(state);
    return true;
  }

  /** Gives back what was taken or booked at `part.at`. */
  refund(): void {
    const { at, cost } = this.part;
    const { algorithm, parameters } = this.#counter;
    if (at > this.now && this.holders === undefined) {
      if (this.#bookings.cancel(this.#counter, this.#state, at, cost)) this.changed = true;
      return;
    }
    if (this.#override?.give(this.now, cost, at)) this.changed = true;
    if (this.#state !== undefined) {
      const state = live(algorithm.give(parameters, this.#state, this.now, cost, at), this.now);
      if (state === this.#state) return;
      this.#become(state);
      this.#promote();
      this.#bookings.reconsider(this.#counter, this.#state);
    }
  }

  /** Its lease begins anew: 1 it holds its permits, 0 it waits for them, -1 it is not known (any more). */
  renew(): 1 | 0 | -1 {
    const holders = this.holders!;
    const { parameters } = this.#counter;
    const { at } = this.part;
    const standing = this.#state === undefined ? -1 : holders.standing(this.#state, at);
    this.#at = at;
    this.own = this.now;
    if (standing === -1) return -1;
    this.#become(holders.renew(parameters, this.#state!, this.now, at));
    if (standing === 0) {
      const patience = holders.patience(parameters, this.#state!, this.now, at);
      this.own = Math.max(this.now + patience, this.#blockedUntil);
    }
    return standing;
  }

  block(micros: number): void {
    this.changed = true;
    this.#blockedUntil = micros === 0 ? 0 : this.now + micros;
    this.#promote();
    this.#bookings.reconsider(this.#counter, this.#state);
  }

  /** @param parameters that replace the policy's own, unless `micros` is 0 */
  override(micros: number, override: Parameters | undefined): void {
    const { algorithm, parameters } = this.#counter;
    const before = this.#override;
    this.changed = true;
    if (micros === 0) {
      this.#override = undefined;
      this.#counter = this.#ownCounter;
      if (before !== undefined) this.#state = before.after(this.#state);
    } else {
      const own = before === undefined ? this.#state : before.state;
      this.#override = new Override(override!, this.now + micros, this.#ownCounter, own);
      this.#counter = new Counter(algorithm, this.#override.parameters);
      if (this.#state !== undefined) this.#state = this.#translated(parameters, this.#state);
    }
    this.#promote();
    this.#bookings.reconsider(this.#counter, this.#state);
  }

  /** Normalizes the state to the override's parameters now, instead of at the next read. */
  #translated(from: Parameters, state: State): State | undefined {
    const { algorithm, parameters } = this.#counter;
    const translated = algorithm.translate?.(from, parameters, state, this.now) ?? state;
    return live(algorithm.repair(parameters, translated, this.now), this.now);
  }

  reset(): void {
    if (this.holders !== undefined && this.#state !== undefined) this.granted = [...this.granted, EVERYONE];
    this.#become(undefined);
    if (this.#override !== undefined) this.#override.state = undefined;
    this.#bookings.clear();
    this.#blockedUntil = 0;
  }

  /** The current values. @param before the state before the call */
  trace(before?: Trace): Trace {
    const { parameters } = this.#counter;
    const { queue } = this.#bookings;
    const state = this.#state;
    return {
      parameters,
      before: before === undefined ? state : before.before,
      after: state,
      queue,
      blockedUntil: this.#blockedUntil,
    };
  }

  answer(): PartAnswer {
    const { now, own } = this;
    const { parameters } = this.#counter;
    const blocked = Math.max(0, this.#blockedUntil - now);
    const before = this.#counter.left(this.#state, now);
    const { remaining, reset } = this.#bookings.left(this.#counter, this.#state, now, before);
    return {
      remaining: blocked > 0 ? 0 : remaining,
      wait: own === NEVER ? NEVER : own - now,
      reset: Math.max(reset, blocked),
      at: this.#at,
      override: this.#override !== undefined || this.shared !== undefined ? parameters : undefined,
    };
  }

  /** What the store keeps. */
  entry(): Entry | undefined {
    const { queue, tail, gaps, none } = this.#bookings;
    if (none && this.#blockedUntil === 0 && this.#override === undefined && this.shared === undefined) {
      return this.#state;
    }
    return {
      state: this.#state,
      queue,
      tail: none ? undefined : tail,
      gaps,
      seen: this.#seen,
      blockedUntil: this.#blockedUntil,
      override: this.#override?.parameters ?? NONE,
      own: this.#override?.state,
      overrideUntil: this.#override?.until ?? 0,
      era: this.shared?.era,
    };
  }
}
