import { ANY, JITTER, NEVER, type Parameters, type State } from '../algorithms/algorithm.js';
import type { Part, PartAnswer, Trace } from '../call/call.js';
import { EVERYONE, type Operation } from '../call/call.js';
import type { Booking } from '../call/limit.js';
import { Counter } from './counter.js';
import { type EffectiveRate, type Entry, type Envelope, isEnvelope, isForgotten } from './entry.js';
import { type EscalationState, strike } from './escalation.js';
import { OverridableCounter } from './override.js';
import { WaitQueue } from './wait-queue.js';

const NONE: readonly number[] = [];

/** One part of a call while it is decided: what its key holds at the moment `now`, and what becomes of it. */
export class KeyState {
  changed = false;
  /** Did the clock or the policy change the entry? A `peek` writes that too: otherwise each would compute the same wait again. */
  normalized = false;
  /** Does the call leave the state as it was read? The policy of the call may be another plan, which must not forget what was taken. */
  #leavesState = false;
  /** Ids of the admitted calls; `EVERYONE` if the whole queue was cleared. */
  granted: readonly number[] = NONE;
  /** Of an `acquire`. */
  booking: Booking | undefined;
  /** When this part alone would allow the call; `NEVER`. */
  ownMoment: number;
  #at = 0;
  readonly #counters: OverridableCounter;
  /** Does a new key begin with a state? A refund to it does not write it. */
  #isNew = false;
  readonly #queue = new WaitQueue();
  #blockedUntil = 0;
  /** The moment; if the clock trembles, the latest that it showed. */
  #seen: number;
  /** Did the call change `escalation`? */
  escalated = false;
  /** The step of the escalation that this call took; 0: none. */
  #step = 0;

  constructor(
    public part: Part,
    entry: Entry | undefined,
    readonly now: number,
    readonly shared?: EffectiveRate,
    /** The denials that an escalation has counted. */
    public escalation?: EscalationState,
  ) {
    this.#seen = now;
    this.ownMoment = now;
    const { rule } = part.limit;
    const parameters = shared?.parameters ?? rule.parametersAt?.(now) ?? rule.parameters;
    const policy = new Counter(rule.algorithm, parameters);
    this.#counters = new OverridableCounter(policy);
    let overrideEnded = false;
    if (entry === undefined || !isEnvelope(entry)) policy.state = entry;
    else if (entry.rateVersion === shared?.rateVersion && !isForgotten(entry, now))
      overrideEnded = this.#open(entry);
    this.#begin(overrideEnded);
    this.#counter.drop(now);
    policy.drop(now);
    if (this.#counter.start(now)) this.#isNew = true;
    this.#promote();
  }

  /** Must the store write the entry after such a call? */
  keeps(operation: Operation): boolean {
    if (operation === 'peek') return this.normalized;
    return this.changed || (this.#isNew && operation !== 'refund');
  }

  get holders() {
    return this.#counter.algorithm.holders;
  }

  get state(): State | undefined {
    return this.#counter.state;
  }

  get #counter(): Counter {
    return this.#counters.current;
  }

  /** @returns whether an override has ended since the last call */
  #open(envelope: Envelope): boolean {
    const { seen, blockedUntil } = envelope;
    const back = seen - this.now > JITTER ? seen - this.now : 0;
    this.#seen = Math.max(this.now, seen - back);
    this.#queue.open(envelope, back);
    if (blockedUntil - back > this.now) this.#blockedUntil = blockedUntil - back;
    const overrideEnded = this.#counters.open(envelope, this.now, back);
    this.changed = back > 0 || overrideEnded;
    this.normalized = this.changed;
    return overrideEnded;
  }

  /** Begins at the first booking that is due: a state that has expired by now may still count then. */
  #begin(overrideEnded: boolean): void {
    const counter = this.#counter;
    const { algorithm, parameters } = counter;
    const queue = this.#queue;
    const from = Math.min(this.now, queue.first ?? this.now);
    const { isOverridden, policy } = this.#counters;
    const remembers = !this.normalized && !isOverridden && algorithm.holders === undefined;
    if (counter.normalize(from, this.now, remembers)) this.normalized = true;
    this.#isNew = counter.start(from);
    if (isOverridden && policy.normalize(from, this.now)) this.normalized = true;
    this.changed ||= this.normalized;
    if (queue.isEmpty) return;
    const outdated = this.changed || this.#isNew;
    const due = queue.removeDue(this.now);
    // Bookings made under an ended override count at most as one whole limit.
    const how = overrideEnded ? 'absorb' : 'book';
    for (let i = 0; i < due.length; i += 2) this.#spend(how, due[i]!, due[i + 1]!);
    if (queue.isEmpty) return;
    if (outdated) queue.projectEnd(counter);
    else queue.queueEndState = algorithm.normalize(parameters, queue.queueEndState!, queue.last);
  }

  #spend(how: 'take' | 'book' | 'absorb', at: number, cost: number): void {
    const { current, policy, countsTwice } = this.#counters;
    current.state = current[how](current.state, at, cost);
    if (countsTwice) policy.state = policy.absorb(policy.state, at, cost);
    this.changed = true;
  }

  #promote(): void {
    const { holders, now, state } = this;
    const { parameters } = this.#counter;
    if (holders === undefined || state === undefined) return;
    // A blocked key admits no call. To renew no lease drops those that have ended.
    const next =
      this.#blockedUntil > now
        ? { state: holders.renew(parameters, state, now, ANY), granted: NONE }
        : holders.promote(parameters, state, now);
    if (next.state !== state) this.#setState(next.state);
    if (next.granted.length > 0) this.granted = [...this.granted, ...next.granted];
  }

  #setState(state: State | undefined): void {
    this.#counter.state = state;
    this.changed = true;
  }

  /** Replaces the state: of holds. */
  put(state: State | undefined): void {
    const before = this.state;
    const isSame = state?.length === before?.length && (state ?? NONE).every((one, i) => one === before![i]);
    if (!isSame) this.#setState(state);
  }

  /** Has the window of the moment `at` ended? Then what was taken in it cannot be corrected. */
  hasEnded(at: number): boolean {
    const { algorithm, parameters } = this.#counter;
    return algorithm.hasEnded?.(parameters, this.now, at) === true;
  }

  /** Waiting calls and bookings may now have earlier moments. */
  #loosen(): void {
    this.changed = true;
    this.#promote();
    this.#queue.lookForGaps(this.#counter);
  }

  /** µs that an `acquire` waits at least, because its cost is above the capacity. */
  get saving(): number {
    return this.booking === undefined ? 0 : this.#counter.saving(this.part.cost);
  }

  /** The first moment from `from` on at which the call can take this part's permits and delay no booking; `NEVER`. */
  earliest(from: number): number {
    const { now, booking, part } = this;
    // Permits are saved up from now on, and remain until a later moment that another part requires. An estimate is made once.
    const isFixed = booking === undefined ? this.holders !== undefined : this.saving > 0;
    if (from > now && isFixed) return Math.max(from, this.ownMoment);
    return this.#queue.earliest(this.#counter, now, Math.max(from, this.#blockedUntil), part.cost, booking);
  }

  /** Is the queue of an `acquire` full, or the wait longer than the policy allows? The time of a block does not count. */
  get overfull(): boolean {
    if (this.booking === undefined) return false;
    if (this.#queue.isFull(this.booking.maxWaiting)) return true;
    const { algorithm, parameters } = this.#counter;
    const longest = algorithm.booking?.maxWait?.(parameters, this.part.cost);
    if (longest === undefined || this.ownMoment === NEVER) return false;
    return this.ownMoment - Math.max(this.now, this.#blockedUntil) > longest;
  }

  /** Takes permits as a penalty, even if fewer are left. They also count in full under the policy's own parameters. */
  charge(): void {
    const { cost } = this.part;
    const { policy, countsTwice } = this.#counters;
    const before = policy.state;
    this.take(this.now);
    if (cost > 0 && countsTwice) policy.state = policy.take(before, this.now, cost);
  }

  /** Takes the part's permits at `moment`, or books them for then. */
  take(moment: number): void {
    const { cost } = this.part;
    if (cost === 0) return;
    if (moment <= this.now) {
      this.#spend('take', this.now, cost);
      if (!this.#queue.isEmpty) this.#queue.projectEnd(this.#counter);
    } else {
      this.#queue.add(this.#counter, moment, cost, this.ownMoment < moment);
      this.changed = true;
    }
    this.#at = this.holders?.last(this.state!) ?? moment;
  }

  /** Lets the call wait for permits that others hold. @returns false if too many calls wait */
  join(): boolean {
    const holders = this.holders!;
    const { parameters } = this.#counter;
    const { cost } = this.part;
    const state = holders.join(parameters, this.state, this.now, cost, this.booking!.maxWaiting);
    if (state === this.state) return false;
    this.#setState(state);
    this.#at = holders.last(state);
    return true;
  }

  /** Gives back permits that were taken at `part.at`, or booked for then; with `refundSince` also of later moments. */
  refund(how: 'refund' | 'refundSince' = 'refund'): void {
    const { at, cost } = this.part;
    if (this.holders === undefined) {
      const isCanceled = this.#queue.cancel(this.#counter, at, cost);
      if (isCanceled) this.changed = true;
      // If the clock jitters, permits may have been taken at a later moment than now.
      if (isCanceled || at - this.now > JITTER) return;
    }
    const { current, policy, countsTwice } = this.#counters;
    if (countsTwice && policy.refund(how, this.now, cost, at)) this.changed = true;
    if (current.refund(how, this.now, cost, at)) this.#loosen();
  }

  /**
   * Renews the lease of `part.at`. Of a waiting call, `ownMoment` is an estimate.
   * @returns µs until it gets its permits: 0 if it holds them, -1 if it is unknown
   */
  renew(): number {
    const holders = this.holders!;
    const { parameters } = this.#counter;
    const { at } = this.part;
    const status = this.state === undefined ? -1 : holders.holderStatus(this.state, at);
    this.#at = at;
    if (status === -1) return -1;
    this.#setState(holders.renew(parameters, this.state!, this.now, at));
    if (status === 1) return 0;
    const { wait, estimate } = holders.remainingWait(parameters, this.state!, this.now, at);
    this.ownMoment = Math.max(this.now + estimate, this.#blockedUntil);
    return Math.max(wait, this.#blockedUntil - this.now);
  }

  get isBlocked(): boolean {
    return this.#blockedUntil > this.now;
  }

  get escalates(): boolean {
    return this.part.limit.rule.escalation !== undefined;
  }

  /** Counts a denial. @returns whether it blocks the key */
  strike(): boolean {
    const { state, block, step } = strike(this.part.limit.rule.escalation!, this.escalation, this.now);
    this.escalation = state;
    this.escalated = true;
    if (block === 0) return false;
    this.#step = step;
    this.#blockFor(block);
    return true;
  }

  /** Denies all calls for `micros` µs from now, 0 to end that. */
  block(micros: number): void {
    this.#leavesState = true;
    this.#blockFor(micros);
  }

  #blockFor(micros: number): void {
    this.#blockedUntil = micros === 0 ? 0 : this.now + micros;
    this.#loosen();
  }

  /** The same, but a block that ends later stays. */
  extendBlock(micros: number): void {
    this.block(Math.max(micros, this.#blockedUntil - this.now));
  }

  /** @param override parameters that replace the policy's own, unless `micros` is 0 */
  override(micros: number, override: Parameters | undefined): void {
    if (micros === 0) this.#counters.end();
    else this.#counters.begin(override!, micros, this.now);
    this.#loosen();
  }

  reset(): void {
    if (this.holders !== undefined && this.state !== undefined) this.granted = [...this.granted, EVERYONE];
    this.#counters.policy.state = undefined;
    this.#setState(undefined);
    this.#queue.set(NONE);
    this.#blockedUntil = 0;
    this.escalation = undefined;
    this.escalated = this.escalates;
  }

  /** The current values. @param before the state before the call */
  trace(before: State | undefined): Trace {
    const { parameters, state: after } = this.#counter;
    return { parameters, before, after, queue: this.#queue.queue, blockedUntil: this.#blockedUntil };
  }

  answer(): PartAnswer {
    const { now, ownMoment } = this;
    const blocked = Math.max(0, this.#blockedUntil - now);
    const { remaining, reset } = this.#queue.usage(this.#counter, now);
    const answer = {
      remaining: blocked > 0 ? 0 : remaining,
      wait: ownMoment === NEVER ? NEVER : ownMoment - now,
      reset: Math.max(reset, blocked),
      at: this.#at,
      override:
        this.#counters.isOverridden || this.shared !== undefined ? this.#counter.parameters : undefined,
    };
    return this.escalates ? { ...answer, blocked, step: this.#step } : answer;
  }

  /** What the store keeps. */
  entry(): Entry | undefined {
    const { queue, queueEndState, hasGaps, isEmpty } = this.#queue;
    const { isOverridden, countsTwice, policy } = this.#counters;
    const state = this.#leavesState && isEmpty ? this.#counter.unadapted : this.state;
    if (isEmpty && this.#blockedUntil === 0 && !isOverridden && this.shared === undefined) return state;
    return {
      state,
      queue,
      queueEndState: isEmpty ? undefined : queueEndState,
      hasGaps,
      seen: this.#seen,
      blockedUntil: this.#blockedUntil,
      ...this.#counters.entry(),
      policyEnd: countsTwice ? this.#queue.absorbedEnd(policy) : undefined,
      rateVersion: this.shared?.rateVersion,
    };
  }
}
