import type { Clock } from '../clock.js';
import {
  type Answer,
  type Call,
  type Decider,
  type Finisher,
  KeyCall,
  type Operation,
  storageKey,
} from '../engine/call.js';
import { isStoreConfigurationError, isStoreUnavailableError, StoreUnavailableError } from '../errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { RateAnswer, RateChange } from '../stores/shared-rate.js';

import type { Store } from '../stores/store.js';
import type { NodeHealth } from '../stores/store-health.js';
import { decideByFallback, isDegraded } from './answers.js';
import { type CallDeadline, type Deadlines, type Departure, DepartureDeadline } from './deadlines.js';
import { type Denial, DenyCache } from './deny-cache.js';
import { hasFallback } from './fallback.js';
import { type CallOwner, directCall, PendingCall, THE_ANSWER } from './pending-call.js';
import type { PolicyLimit } from './policy-limit.js';
import { Prefetch } from './prefetch.js';
import { departAlone } from './single-departure.js';
import { contextOf, type StoreContext } from './store-context.js';
import { TimeLimits } from './time-limits.js';
import { answerInTurn, currentTurn, mayAnswerNow, nextTurn } from './turns.js';

/** Times are µs. */
export interface PipelineOptions {
  readonly deadline: number;
  /** The longest time for which a denial is cached; 0: none is. */
  readonly denyCache: number;
}

/** Cached denials of one turn that share a reading of the clock: reading it takes as long as everything else about them. */
const SHARE_CLOCK = 16;

/** Operations that may let a key pass sooner than a denial said. */
const INVALIDATES: readonly Operation[] = ['refund', 'block', 'override', 'reset'];

/**
 * The path of every call to a remote store, and of its answer back to the limiter:
 *
 *     prefetched permits → deny cache → circuit → this turn's batch → script
 *     reply → circuit, deadline → deny cache → decision
 */
export class Pipeline implements Decider, CallOwner {
  readonly name: string;
  readonly clock: Clock;
  readonly #context: StoreContext;
  readonly #prefetch: Prefetch;
  readonly #denyCache: DenyCache;
  readonly #times: TimeLimits;
  #loading: Promise<unknown> | undefined;
  /** µs: the clock at the last look into the deny cache. */
  #now = 0;
  /** The turn in which `#nowUses` more calls may use `#now`; undefined: read the clock. */
  #nowTurn: number | undefined;
  #nowUses = 0;
  /** The only node, if the store is no cluster. */
  #node: NodeHealth | undefined;

  constructor(
    readonly store: Store,
    { deadline, denyCache }: PipelineOptions,
  ) {
    this.name = store.name;
    this.clock = store.clock;
    this.#context = contextOf(store);
    this.#prefetch = new Prefetch(this);
    this.#denyCache = new DenyCache(denyCache, this.#context.invalidations, {
      name: 'deny-cache',
      decider: this,
    });
    this.#times = new TimeLimits(store, deadline);
    store.expect?.(this.#times.usual.ms);
    this.#loading = store.loading;
    this.#loading?.then(
      () => {
        this.#loading = undefined;
      },
      () => {}, // each call rejects with it
    );
  }

  get fleet(): object | undefined {
    return this.store.fleet;
  }

  async decide(call: Call): Promise<Answer> {
    return this.decideAndFinish(KeyCall.of(call), THE_ANSWER);
  }

  /** Returns at once if the deny cache answers. */
  decideAndFinish<T>(call: KeyCall, finisher: Finisher<T>): MaybePromise<T> {
    const prefetches = call.several !== undefined || (call.limit as PolicyLimit).prefetch !== undefined;
    let denial = prefetches || this.#denyCache.isEmpty ? undefined : this.#denialOf(call);
    if (denial !== undefined && this.#now < denial.until) {
      const answer = this.#denyCache.answer(denial, this.#now);
      const atOnce = mayAnswerNow();
      this.#nowTurn = currentTurn(); // not before: a turn is counted only if it has answered
      return atOnce ? finisher.finish(call, answer) : finishNextTurn(call, answer, finisher);
    }
    const pending = new PendingCall(call, this, finisher);
    if (prefetches) {
      if (this.#prefetch.handles(pending)) return pending.promise;
      denial = this.#denialOf(call);
    }
    if (denial === undefined) this.#send(pending);
    else this.#hold(pending, denial);
    return pending.promise;
  }

  /** Decides without prefetched permits. @param deadline of a call that may need several requests */
  request(call: Call, deadline?: CallDeadline): Promise<Answer> {
    const pending = new PendingCall(KeyCall.of(call), this, THE_ANSWER);
    pending.ownDeadline = deadline;
    const denial = this.#denialOf(pending.call);
    if (denial === undefined) this.#send(pending);
    else this.#hold(pending, denial);
    return pending.promise;
  }

  /** The cached denial of a call, if there is one. Sets `#now`. */
  #denialOf(call: KeyCall): Denial | undefined {
    if (call.operation !== 'consume' || call.traced || this.#denyCache.isEmpty) return undefined;
    if (this.#nowTurn === currentTurn() && this.#nowUses > 0) {
      this.#nowUses -= 1;
    } else {
      this.#now = this.clock.now();
      this.#nowTurn = undefined;
      this.#nowUses = SHARE_CLOCK - 1;
    }
    return this.#denyCache.find(call, this.#now);
  }

  /** Answers a call by its cached denial, lets it renew the denial, or lets it wait for the call that does. */
  #hold(call: PendingCall, denial: Denial): void {
    if (this.#now < denial.until) {
      const answer = this.#denyCache.answer(denial, this.#now);
      answerInTurn(() => call.resolve(answer));
    } else if (denial.waiting === undefined) {
      this.#denyCache.renew(denial, call);
      this.#send(call);
    } else {
      if (call.ownDeadline === undefined) this.#giveDeadline(call);
      call.ownDeadline!.begin();
      denial.waiting.push(call);
    }
  }

  #send(call: PendingCall): void {
    if (call.call.operation !== 'consume') this.#invalidate(call.call);
    if (call.ownDeadline?.over) {
      // The store did nothing wrong, so its circuit does not count it.
      this.#decideWithoutStore(call, this.#times.usual.late(true));
      return;
    }
    const node = this.#node ?? this.#nodeAt(storageKey(call.call));
    if (node !== undefined) {
      const { error } = node.circuit;
      if (error !== undefined) {
        const reason = hasFallback(call.call) ? error : whileOpen(error);
        answerInTurn(() => this.#decideWithoutStore(call, reason));
        return;
      }
      call.node = node;
      call.ticket = node.isWell ? node.circuit.ticket : node.circuit.enter();
    }
    if (this.#loading === undefined) this.#depart(call);
    else
      this.#loading.then(
        () => this.#depart(call),
        (error) => call.failed(error),
      );
  }

  #depart(call: PendingCall, limits?: Deadlines): void {
    const { store } = this;
    const until = this.#context.health?.isKnown ? undefined : store.firstConnectionUntil;
    const { usual, first } = this.#times;
    const deadlines = limits ?? (until === undefined ? usual : first);
    call.ownDeadline?.limit(call);
    if (call.over) return;
    if (limits !== undefined) store.expect?.(limits.ms);
    const departure = store.send?.(call) ?? departAlone(call, store, deadlines.ms);
    this.#limit(call, departure, deadlines, until);
  }

  /** Calls of one departure share a deadline: one reading of the clock and one link in the list for all. */
  #limit(call: PendingCall, departure: Departure, deadlines: Deadlines, until: number | undefined): void {
    if (call.ownDeadline !== undefined) return;
    call.deadlines = deadlines;
    for (let one = departure.deadline; one !== undefined; one = one.next) {
      if (one.deadlines === deadlines) return;
    }
    departure.deadline = new DepartureDeadline(departure, deadlines, departure.deadline);
    deadlines.begin(departure.deadline, departure.began, until);
  }

  complete(call: PendingCall, answer: Answer): void {
    if (call.over) return;
    const { node } = call;
    if (node !== undefined && !node.isWell) node.succeeded(call.ticket);
    this.#settle(call, answer);
  }

  fail(call: PendingCall, error: unknown): void {
    if (call.over) return;
    call.over = true;
    const { node } = call;
    if (node !== undefined) {
      const { parts } = call.call;
      this.#failed(node, call.ticket, error, storageKey(call.call), () => this.#peek(parts));
    }
    if (isStoreUnavailableError(error)) this.#decideWithoutStore(call, error);
    else this.#reject(call, error);
  }

  #settle(call: PendingCall, answer: Answer): void {
    const { call: decided } = call;
    if (decided.operation === 'consume') {
      if (!answer.allowed && !decided.traced)
        this.#denyCache.remember(decided, answer, call.departure?.localTime ?? 0);
    } else {
      this.#invalidate(decided);
    }
    const waiting = call.renews && this.#denyCache.renewed(call);
    call.resolve(answer);
    if (waiting !== undefined) for (const one of waiting) this.#resume(one, answer);
  }

  #reject(call: PendingCall, error: unknown): void {
    this.#invalidate(call.call);
    const waiting = this.#denyCache.renewed(call);
    call.reject(error);
    // A second request would take the time of a second deadline.
    if (waiting !== undefined) for (const one of waiting) one.reject(error);
  }

  /** At the start of a call and again at its end: a denial already in flight was decided before this change. */
  #invalidate({ operation, parts }: KeyCall): void {
    if (INVALIDATES.includes(operation)) this.#context.invalidations.add(parts);
  }

  /** The denial that a call waited for was renewed or removed. */
  #resume(call: PendingCall, answer: Answer): void {
    const now = this.clock.now();
    const denial = this.#denyCache.find(call.call, now);
    if (denial !== undefined) call.resolve(this.#denyCache.answer(denial, now));
    else if (isDegraded(answer)) call.follow(decideByFallback(answer, call.call));
    else this.#send(call);
  }

  #decideWithoutStore(call: PendingCall, error: StoreUnavailableError): void {
    let answer: Answer;
    try {
      answer = this.decideWithoutStore(call.call, error);
    } catch (reason) {
      this.#reject(call, reason);
      return;
    }
    this.#settle(call, answer);
  }

  decideWithoutStore(call: Call, error: StoreUnavailableError): Answer {
    return this.#context.decideWithoutStore(call, error);
  }

  onOutage(key: string, listener: (error: StoreUnavailableError) => void): () => void {
    return this.#nodeAt(key)?.circuit.onOpen(listener) ?? (() => {});
  }

  listen(key: string, granted: (id: number) => void): Promise<() => void> {
    return this.store.listen(key, granted);
  }

  /** Changes or reads a shared rate: with another script, and the same circuit and deadline. */
  async rate(change: RateChange): Promise<RateAnswer> {
    const node = this.#nodeAt(change.key);
    const error = node?.circuit.error;
    if (error !== undefined) {
      await new Promise<void>(answerInTurn);
      throw whileOpen(error);
    }
    const ticket = node?.circuit.enter() ?? 0;
    try {
      const answer = await this.#rate(change);
      node?.succeeded(ticket);
      return answer;
    } catch (reason) {
      const get = () => this.#rate({ action: 'get', key: change.key }, this.#times.probe);
      if (node !== undefined) this.#failed(node, ticket, reason, change.key, get);
      throw reason;
    }
  }

  async #rate(change: RateChange, limits?: Deadlines): Promise<RateAnswer> {
    if (this.#loading !== undefined) await this.#loading;
    const { store } = this;
    const deadline = this.#times.newDeadline(limits);
    const state = { abandoned: false, deadline: (limits ?? this.#times.usual).ms };
    try {
      return await new Promise<RateAnswer>((resolve, reject) => {
        const failed = (error: unknown) => {
          state.abandoned = true;
          reject(error);
        };
        deadline.limit({ over: false, departure: undefined, deadlines: undefined, failed });
        store.rate(change, state).then(resolve, reject);
      });
    } finally {
      deadline.end();
    }
  }

  /** A deadline of a call that may need several requests. */
  newDeadline(): CallDeadline {
    return this.#times.newDeadline();
  }

  #giveDeadline(call: PendingCall): void {
    const deadline = this.newDeadline();
    call.ownDeadline = deadline;
    const end = () => deadline.end();
    call.promise.then(end, end);
  }

  #nodeAt(key: string): NodeHealth | undefined {
    const { health } = this.#context;
    if (this.store.slotted) return health?.node(this.store.nodeOf?.(key) ?? '');
    this.#node = health?.node('');
    return this.#node;
  }

  #failed(
    node: NodeHealth,
    ticket: number,
    error: unknown,
    key: string,
    probe: () => Promise<unknown>,
  ): void {
    const unavailable = isStoreUnavailableError(error);
    if (unavailable && error.reason === 'closed') return; // by its owner
    if (unavailable || isStoreConfigurationError(error)) node.failed(error);
    if (unavailable) node.circuit.failed(ticket, error, () => this.#probe(node, key, probe));
    else node.succeeded(ticket); // it has answered
  }

  /**
   * Reads without changing anything. A store that refuses is not out: the next call gets its error, such as a missing right. A cluster may
   * have moved the key to another node: then no call needs this node.
   */
  async #probe(node: NodeHealth, key: string, read: () => Promise<unknown>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (isStoreUnavailableError(error)) throw error;
    }
    if (this.#nodeAt(key) !== node) node.circuit.replaced();
  }

  #peek(parts: Call['parts']): Promise<Answer> {
    const call = directCall({ operation: 'peek', wait: 0, parts });
    this.#depart(call, this.#times.probe);
    return call.promise;
  }
}

/** A function of its own: its closure would cost each call of `decideAndFinish` an object. */
const finishNextTurn = <T>(call: KeyCall, answer: Answer, finisher: Finisher<T>): Promise<T> =>
  nextTurn().then(() => finisher.finish(call, answer));

/** The error while the circuit is open. */
function whileOpen(error: StoreUnavailableError): StoreUnavailableError {
  const { message, reason } = error;
  return new StoreUnavailableError(
    `${message}; the store is out, and calls are not sent until it answers again`,
    {
      reason,
      neverSent: true,
      cause: error,
    },
  );
}

/** Decides a limiter's calls: a store in this process itself, or the pipeline to a remote store. */
export const deciderOf = (store: Store, options: PipelineOptions): Decider =>
  store.remote ? new Pipeline(store, options) : store;
