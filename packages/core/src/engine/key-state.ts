import { ANY, JITTER, NEVER, type Parameters, type State } from '../algorithms/algorithm.js';
import { EVERYONE, type Operation, type Part, type PartAnswer, type Trace } from './call.js';
import { Counter, live } from './counter.js';
import { type Entry, type Envelope, isEnvelope } from './entry.js';
import { Override } from './override.js';
import { WaitQueue } from './wait-queue.js';

/** The numbers of a shared rate by which a call is decided: those that its store has at that moment. */
export interface EffectiveRate {
  /** Which setting of the rate this is: what was written under another counts no more. A mark and not a time: clocks go back. */
  readonly rateVersion: number;
  readonly parameters: Parameters;
}

const NONE: readonly number[] = [];

/**
 * One part of a call while it is decided: what its key's entry says at the moment `now`, and what becomes of it. The state holds
 * what has gone, the bookings who may go later.
 */
export class KeyState {
  changed = false;
  /**
   * Did the clock or the policy change what is known? A `peek` keeps that too: measured anew by each, a wait would not become
   * shorter until somebody took something.
   */
  normalized = false;
  /** Ids of the admitted calls; `EVERYONE` if the whole queue was cleared. */
  granted: readonly number[] = NONE;
  /** Set by `decide`: when this part alone would let the call go. */
  ownMoment = 0;
  #at = 0;
  #counter: Counter;
  #state: State | undefined;
  /** Counts with the policy's own parameters. During an override `#counter` has the parameters of the override. */
  readonly #policyCounter: Counter;
  /** Is the key met for the first time, and begins with a state? To give something back to it is not to use it. */
  #isNew = false;
  readonly #queue = new WaitQueue();
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
    this.#policyCounter = new Counter(rule.algorithm, parameters);
    this.#counter = this.#policyCounter;
    let overrideEnded = false;
    if (entry === undefined || !isEnvelope(entry)) {
      this.#state = entry;
    } else if (entry.rateVersion === shared?.rateVersion) {
      this.#state = entry.state;
      overrideEnded = this.#open(entry);
    }
    this.#begin(overrideEnded);
    this.#state = live(this.#state, now);
    this.#override?.drop(now);
    this.#promote();
  }

  /** Has the store to write it after such a call? */
  keeps(operation: Operation): boolean {
    if (operation === 'peek') return this.normalized;
    return this.changed || (this.#isNew && operation !== 'refund');
  }

  get holders() {
    return this.#counter.algorithm.holders;
  }

  /** @returns whether an override has ended since the last call */
  #open(envelope: Envelope): boolean {
    const { seen, blockedUntil, override, overrideUntil, policyState } = envelope;
    const back = seen - this.now > JITTER ? seen - this.now : 0;
    this.#seen = Math.max(this.now, seen - back);
    this.changed = back > 0;
    this.normalized = back > 0;
    this.#queue.open(envelope, back);
    if (blockedUntil - back > this.now) this.#blockedUntil = blockedUntil - back;
    if (override.length === 0) return false;
    if (overrideUntil - back <= this.now) {
      this.changed = true;
      this.normalized = true;
      if (this.holders === undefined) this.#state = policyState;
      return true;
    }
    this.#override = new Override(override, overrideUntil - back, this.#policyCounter, policyState);
    this.#counter = new Counter(this.#counter.algorithm, override);
    return false;
  }

  /** The state as of the first who is due: for him it may count, although it is worth nothing now. */
  #begin(overrideEnded: boolean): void {
    const { algorithm, parameters } = this.#counter;
    const queue = this.#queue;
    const from = Math.min(this.now, queue.first ?? this.now);
    const state = live(this.#state, from);
    if (state === undefined) this.#state = algorithm.initialState?.(parameters, from);
    else this.#state = algorithm.normalize(parameters, state, this.now);
    if (this.#state !== state) {
      this.#isNew = state === undefined;
      this.normalized ||= !this.#isNew;
      this.changed ||= this.normalized;
    }
    if (this.#override?.normalize(from, this.now)) {
      this.normalized = true;
      this.changed = true;
    }
    if (queue.isEmpty) return;
    const outdated = this.changed || this.#isNew;
    const due = queue.removeDue(this.now);
    // Bookings made under an ended override count at most as one whole limit.
    const how = overrideEnded ? 'absorb' : 'book';
    for (let i = 0; i < due.length; i += 2) this.#spend(how, due[i]!, due[i + 1]!);
    if (queue.isEmpty) return;
    if (outdated) queue.projectEnd(this.#counter, this.#state);
    else queue.queueEndState = algorithm.normalize(parameters, queue.queueEndState!, queue.last);
  }

  #spend(how: 'take' | 'book' | 'absorb', at: number, cost: number): void {
    this.#setState(this.#counter[how](this.#state, at, cost));
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
    if (state !== this.#state) this.#setState(state);
    if (granted.length > 0) this.granted = [...this.granted, ...granted];
  }

  #setState(state: State | undefined): void {
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
    if (from > this.now && shaped && this.saving > 0) return Math.max(from, this.ownMoment);
    const first = Math.max(from, this.#blockedUntil);
    return this.#queue.earliest(this.#counter, this.#state, first, this.part.cost, shaped);
  }

  /** Do as many wait as may, or is `own` later than the policy itself lets anybody wait? A block is not counted as that. */
  get overfull(): boolean {
    const { algorithm, parameters } = this.#counter;
    if (this.#queue.isFull) return true;
    if (algorithm.maxWait === undefined || this.ownMoment === NEVER) return false;
    return (
      this.ownMoment - Math.max(this.now, this.#blockedUntil) > algorithm.maxWait(parameters, this.part.cost)
    );
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
      if (!this.#queue.isEmpty) this.#queue.projectEnd(this.#counter, this.#state);
    } else {
      this.#queue.add(this.#counter, this.#state, moment, cost, this.ownMoment < moment);
      this.changed = true;
    }
    this.#at = this.holders?.last(this.#state!) ?? moment;
  }

  /** Stands in line for permits that somebody holds. False when the line is full. */
  join(): boolean {
    const holders = this.holders!;
    const state = holders.join(this.#counter.parameters, this.#state, this.now, this.part.cost);
    if (state === this.#state) return false;
    this.#setState(state);
    this.#at = holders.last(state);
    return true;
  }

  /** Gives back what was taken or booked at `part.at`. */
  refund(): void {
    const { at, cost } = this.part;
    const { algorithm, parameters } = this.#counter;
    if (at > this.now && this.holders === undefined) {
      if (this.#queue.cancel(this.#counter, this.#state, at, cost)) this.changed = true;
      return;
    }
    if (this.#override?.refund(this.now, cost, at)) this.changed = true;
    if (this.#state !== undefined) {
      const state = live(algorithm.refund(parameters, this.#state, this.now, cost, at), this.now);
      if (state === this.#state) return;
      this.#setState(state);
      this.#promote();
      this.#queue.lookForGaps(this.#counter, this.#state);
    }
  }

  /** Its lease begins anew: 1 it holds its permits, 0 it waits for them, -1 it is not known (any more). */
  renew(): 1 | 0 | -1 {
    const holders = this.holders!;
    const { parameters } = this.#counter;
    const { at } = this.part;
    const status = this.#state === undefined ? -1 : holders.holderStatus(this.#state, at);
    this.#at = at;
    this.ownMoment = this.now;
    if (status === -1) return -1;
    this.#setState(holders.renew(parameters, this.#state!, this.now, at));
    if (status === 0) {
      const patience = holders.patience(parameters, this.#state!, this.now, at);
      this.ownMoment = Math.max(this.now + patience, this.#blockedUntil);
    }
    return status;
  }

  block(micros: number): void {
    this.changed = true;
    this.#blockedUntil = micros === 0 ? 0 : this.now + micros;
    this.#promote();
    this.#queue.lookForGaps(this.#counter, this.#state);
  }

  /** @param parameters that replace the policy's own, unless `micros` is 0 */
  override(micros: number, override: Parameters | undefined): void {
    const { algorithm, parameters } = this.#counter;
    const before = this.#override;
    this.changed = true;
    if (micros === 0) {
      this.#override = undefined;
      this.#counter = this.#policyCounter;
      if (before !== undefined) this.#state = before.after(this.#state);
    } else {
      const policyState = before === undefined ? this.#state : before.state;
      this.#override = new Override(override!, this.now + micros, this.#policyCounter, policyState);
      this.#counter = new Counter(algorithm, this.#override.parameters);
      if (this.#state !== undefined) this.#state = this.#translated(parameters, this.#state);
    }
    this.#promote();
    this.#queue.lookForGaps(this.#counter, this.#state);
  }

  /** Normalizes the state to the override's parameters now, instead of at the next read. */
  #translated(from: Parameters, state: State): State | undefined {
    const { algorithm, parameters } = this.#counter;
    const translated = algorithm.translate?.(from, parameters, state, this.now) ?? state;
    return live(algorithm.normalize(parameters, translated, this.now), this.now);
  }

  reset(): void {
    if (this.holders !== undefined && this.#state !== undefined) this.granted = [...this.granted, EVERYONE];
    this.#setState(undefined);
    if (this.#override !== undefined) this.#override.state = undefined;
    this.#queue.clear();
    this.#blockedUntil = 0;
  }

  /** The current values. @param before the state before the call */
  trace(before?: Trace): Trace {
    const { parameters } = this.#counter;
    const { queue } = this.#queue;
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
    const { now, ownMoment } = this;
    const { parameters } = this.#counter;
    const blocked = Math.max(0, this.#blockedUntil - now);
    const before = this.#counter.usage(this.#state, now);
    const { remaining, reset } = this.#queue.usage(this.#counter, this.#state, now, before);
    return {
      remaining: blocked > 0 ? 0 : remaining,
      wait: ownMoment === NEVER ? NEVER : ownMoment - now,
      reset: Math.max(reset, blocked),
      at: this.#at,
      override: this.#override !== undefined || this.shared !== undefined ? parameters : undefined,
    };
  }

  /** What the store keeps. */
  entry(): Entry | undefined {
    const { queue, queueEndState, hasGaps, isEmpty } = this.#queue;
    if (isEmpty && this.#blockedUntil === 0 && this.#override === undefined && this.shared === undefined) {
      return this.#state;
    }
    return {
      state: this.#state,
      queue,
      queueEndState: isEmpty ? undefined : queueEndState,
      hasGaps,
      seen: this.#seen,
      blockedUntil: this.#blockedUntil,
      override: this.#override?.parameters ?? NONE,
      policyState: this.#override?.state,
      overrideUntil: this.#override?.until ?? 0,
      rateVersion: this.shared?.rateVersion,
    };
  }
}
