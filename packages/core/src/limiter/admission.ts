import { mergeByKey, shadowCall, splitByPart } from '../call/answers.js';
import {
  type Answer,
  type Call,
  type Decider,
  type Finisher,
  isHeld,
  KeyCall,
  type Part,
  storageKey,
} from '../call/call.js';
import type { Decision } from '../decision.js';
import { MAX_MICROS } from '../duration.js';
import { LimiterClosedError } from '../errors.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import { DECIDE, DECISION, isTraced, WAIT } from '../telemetry/channels.js';
import { AcquireMessage, DecideMessage, publishEscalations } from './call-message.js';
import type { WaitLimits } from './call-options.js';
import { DecisionRecord, errorOfDenial } from './decision-record.js';
import type { CallObserver } from './observer.js';
import { Refunds } from './refunds.js';
import { answeredBy, HeldPermits, isQueueFull, mayQueue } from './waiting/held-permits.js';
import { Leases } from './waiting/leases.js';
import { Stop } from './waiting/stop.js';
import { WakeOrder } from './waiting/wake-order.js';

const holds = (part: Part): boolean => part.cost > 0 && isHeld(part);

/** Each call reads whether anyone subscribes to these: not by isTraced, which would be a call more. */
const { start, end, asyncStart, asyncEnd, error } = DECIDE;

/** A store of a program's own that answers later. */
async function finishLater(
  call: KeyCall,
  answer: Promise<Answer>,
  finisher: Finisher<Decision>,
): Promise<Decision> {
  try {
    return finisher.finish(call, await answer);
  } catch (error) {
    finisher.failed?.(call, error);
    throw error;
  }
}

/** What every limiter does with the parts of a call: decides, sleeps until booked permits are due, renews leases. */
export class Admission implements Finisher<Decision> {
  readonly refunds: Refunds;
  readonly #leases: Leases;
  readonly #held: HeldPermits;
  readonly #order = new WakeOrder();
  /** Each pending `acquire`, by the controller that ends its wait. */
  readonly #waiting = new Map<Stop, Promise<unknown>>();
  #closed: LimiterClosedError | undefined;
  /** Makes the decisions that the caller does not enforce. */
  readonly #shadow: Finisher<Decision> = {
    finish: (call, answer) => this.finish(call, answer, true),
    failed: (call, error) => this.failed(call, error, true),
  };

  constructor(
    readonly name: string,
    readonly decider: Decider,
    readonly observer?: CallObserver | undefined,
  ) {
    this.#leases = new Leases(name);
    this.#held = new HeldPermits(decider, this.#leases);
    this.refunds = new Refunds(name, this.#held);
  }

  checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }

  /** A call waits, or a permit is held. */
  get busy(): boolean {
    return this.#waiting.size > 0 || this.#leases.size > 0;
  }

  /**
   * `consume` or `peek`. Returns at once, or throws, if the store needs no network.
   * @param shadow the caller will not enforce the decision
   * @param now without a promise; only for a decider that can
   */
  admit(call: KeyCall, shadow = false, now = false): MaybePromise<Decision> {
    if (this.#closed !== undefined) throw this.#closed;
    const heard =
      DECISION.hasSubscribers ||
      start.hasSubscribers ||
      end.hasSubscribers ||
      asyncStart.hasSubscribers ||
      asyncEnd.hasSubscribers ||
      error.hasSubscribers;
    const admitted = shadow ? shadowCall(call) : call;
    const finisher = shadow ? this.#shadow : this;
    return heard ? this.#publish(admitted, finisher, now) : this.#send(admitted, finisher, now);
  }

  #publish(call: KeyCall, finisher: Finisher<Decision>, now: boolean): MaybePromise<Decision> {
    const traced = isTraced();
    if (call.operation === 'peek' && !traced) return this.#send(call, finisher, now);
    const message = new DecideMessage(this, call, finisher === this.#shadow, finisher);
    return traced ? message.trace(() => this.#send(call, message, now)) : this.#send(call, message, now);
  }

  #send(call: KeyCall, finisher: Finisher<Decision>, now: boolean): MaybePromise<Decision> {
    if (call.several !== undefined) {
      const { operation, traced, parts } = call;
      const keys = mergeByKey(parts);
      if (keys !== parts) {
        const merged = {
          finish: (_: KeyCall, answer: Answer) => finisher.finish(call, splitByPart(parts, keys, answer)),
          failed: (_: KeyCall, error: unknown) => finisher.failed?.(call, error),
        };
        return this.#send(KeyCall.of({ operation, wait: 0, parts: keys, traced }), merged, now);
      }
    }
    const { decider } = this;
    try {
      if (now && decider.dispatchNow !== undefined) return decider.dispatchNow(call, finisher);
      if (decider.dispatch !== undefined) return decider.dispatch(call, finisher);
      const answer = decider.decide(call);
      return isPromise(answer) ? finishLater(call, answer, finisher) : finisher.finish(call, answer);
    } catch (error) {
      finisher.failed?.(call, error);
      throw error;
    }
  }

  finish(call: KeyCall, answer: Answer, shadow = false): Decision {
    const { name, decider } = this;
    const decision = new DecisionRecord(name, decider, call, call, answer, call.operation === 'consume', 0);
    if (call.several === undefined ? isHeld(call) : call.several.some(isHeld)) this.#hold(decision, answer);
    if (decision.blockedFor !== undefined) publishEscalations(name, call.parts, answer);
    if (this.observer !== undefined && call.operation === 'consume')
      this.observer.decided(call, decision, answer, shadow);
    return decision;
  }

  failed(call: KeyCall, error: unknown, shadow = false): void {
    if (call.operation === 'consume') this.observer?.failed(call, error, shadow, false);
  }

  /** Without a timeout it decides as `consume` does: it does not wait, and a leaky bucket does not delay it. */
  async reserve(call: KeyCall, limits: WaitLimits): Promise<Decision> {
    if (limits.timeout !== undefined) return this.acquire(call.parts, limits);
    limits.signal?.throwIfAborted();
    const decision = await this.admit(call);
    if (!decision.allowed) throw errorOfDenial(decision);
    return decision;
  }

  /** @throws RateLimitExceededError, the signal's reason, LimiterClosedError */
  async acquire(parts: readonly Part[], { timeout = MAX_MICROS, signal }: WaitLimits): Promise<Decision> {
    this.checkOpen();
    signal?.throwIfAborted();
    const stop = new Stop(signal);
    const traced = isTraced();
    const heard = traced || DECISION.hasSubscribers || WAIT.hasSubscribers;
    const message = heard ? new AcquireMessage(this, parts) : undefined;
    const acquire = () => this.#acquire(parts, timeout, stop, message);
    const acquired = traced ? message!.trace(acquire) : acquire();
    this.#waiting.set(stop, acquired);
    try {
      return await acquired;
    } catch (error) {
      const canceled = stop.isAborted && error === stop.reason;
      message?.rejected(error, canceled ? 'canceled' : 'error');
      this.observer?.failed({ parts }, error, false, canceled);
      throw error;
    } finally {
      this.#waiting.delete(stop);
      stop.end();
    }
  }

  async #acquire(
    parts: readonly Part[],
    timeout: number,
    stop: Stop,
    message?: AcquireMessage,
  ): Promise<Decision> {
    const start = this.decider.clock.now();
    const merged = mergeByKey(parts);
    const keys = merged.map(({ limit, key, cost, at }) => {
      const booking = limit.waiting?.of(cost, this.decider.clock);
      return { limit, key, cost, at, booking };
    });
    let answer = await this.decider.decide({ operation: 'acquire', wait: timeout, parts: keys });
    const { clock } = answeredBy(answer, this.decider);
    let waited = 0;
    const queues = timeout > 0 && mayQueue(keys, answer);
    if (queues || (answer.allowed && answer.wait > 0)) message?.waits();
    if (queues) {
      answer = await this.#held.wait(keys, answer, start + timeout, stop.signal);
      waited = clock.now() - start;
    }
    const split = splitByPart(parts, merged, answer);
    const { name, decider } = this;
    const call = { parts };
    const decision = new DecisionRecord(name, decider, call, parts[0]!, split, true, waited + answer.wait);
    if (parts.some(isHeld)) this.#hold(decision, split);
    if (decision.blockedFor !== undefined) publishEscalations(name, parts, split);
    if (!answer.allowed) {
      message?.ended(decision);
      throw errorOfDenial(decision, { queueFull: isQueueFull(keys, answer, waited, timeout) });
    }
    try {
      if (answer.wait > 0 || !this.#order.isEmpty) {
        const queue = `${answeredBy(answer, this.decider).name} ${storageKey(keys[0]!)}`;
        await this.#order.wait(queue, answer.now + answer.wait, answer.wait, clock, stop.signal);
      }
      stop.throwIfAborted();
    } catch (reason) {
      // If the store is out, the permits stay spent: too few calls may then pass, never too many.
      await this.refunds.refund(decision, 'cancel').catch(() => {});
      throw reason;
    }
    message?.ended(decision);
    this.observer?.decided(call, decision, split, false);
    return decision;
  }

  /** Takes permits, even if none are left. @param after their decision: they are taken where it was decided */
  async charge(parts: readonly Part[], after?: Decision): Promise<void> {
    const store = after?.degraded ? DecisionRecord.decider(after) : this.decider;
    const keys = mergeByKey(parts);
    const answer = await store.decide({ operation: 'charge', wait: 0, parts: keys });
    this.observer?.charged({ parts: keys }, answer);
  }

  async change(change: Call): Promise<void> {
    this.checkOpen();
    if (change.parts.length > 0) await this.decider.decide(change);
  }

  /** Aborted when a lease of this decision is lost; undefined if it holds no permits. */
  lost(decision: Decision): AbortSignal | undefined {
    const held = DecisionRecord.taken(decision)!.filter(holds);
    return held.length === 0 ? undefined : this.#leases.lost(held);
  }

  #hold(decision: Decision, answer: Answer): void {
    DecisionRecord.taken(decision)!.forEach((part, i) => {
      if (holds(part)) this.#leases.hold(DecisionRecord.decider(decision), decision, part, answer.parts[i]!);
    });
  }

  /** Ends all waits with a `LimiterClosedError` and returns their bookings. Leases are no longer renewed. */
  async close(): Promise<void> {
    this.#closed ??= new LimiterClosedError(`Limiter '${this.name}' was closed`);
    const acquired = [...this.#waiting];
    for (const [stop] of acquired) stop.abort(this.#closed);
    await Promise.allSettled(acquired.map(([, done]) => done));
    this.#leases.close(this.#closed);
  }
}
