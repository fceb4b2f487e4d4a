import { hasBackground } from '#platform';
import { decideByFallback, isDegraded } from '../call/answers.js';
import {
  type Answer,
  type Call,
  type Decider,
  type Finisher,
  type KeyCall,
  storageKey,
} from '../call/call.js';
import { type CallDeadline, type Deadlines, DepartureDeadline } from '../call/deadlines.js';
import { type CallOwner, PendingCall, THE_ANSWER } from '../call/pending-call.js';
import type { Clock } from '../clock.js';
import { isStoreUnavailableError, type StoreUnavailableError } from '../errors.js';
import { whileOpen } from '../health/circuit.js';
import type { MaybePromise } from '../maybe-promise.js';
import { isStoreRefusal } from '../store-refusal.js';
import type { RateAnswer, RateChange } from '../stores/shared-rate.js';
import type { Store } from '../stores/store.js';
import { type Denial, DenyCache } from './deny-cache.js';
import { hasFallback, type MakeLocalStore } from './fallback.js';
import { Prefetch } from './prefetch/prefetch.js';
import { contextOf, departAlone, type StoreContext } from './store-context.js';
import { TimeLimits } from './time-limits.js';
import { answerInTurn, mayAnswerNow, nextTurn } from './turns.js';

/** Times are µs. */
export interface PipelineOptions {
  readonly deadline: number;
  /** The longest time for which a denial is cached; 0: none is. */
  readonly denyCache: number;
}

/**
 * The path of every call to a remote store, and of its answer back to the limiter:
 *
 *     prefetched permits → deny cache → circuit → this turn's batch → script
 *     reply → circuit, deadline → deny cache → decision
 */
export class Pipeline implements Decider, CallOwner {
  readonly name: string;
  readonly clock: Clock;
  readonly listen: Decider['listen'];
  readonly dispatchNow: Decider['dispatchNow'];
  readonly decideWithoutStore: StoreContext['decideWithoutStore'];
  readonly #context: StoreContext;
  readonly #prefetch: Prefetch;
  readonly #denyCache: DenyCache;
  readonly times: TimeLimits;
  #loading: Promise<unknown> | undefined;

  constructor(
    readonly store: Store,
    { deadline, denyCache }: PipelineOptions,
    makeLocal: MakeLocalStore,
  ) {
    this.name = store.name;
    this.clock = store.clock;
    this.listen = store.listen && ((key, granted) => this.#listen(key, granted));
    this.dispatchNow = store.decideNow && ((call, finisher) => finisher.finish(call, this.#decideNow(call)));
    this.#context = contextOf(store, makeLocal);
    this.decideWithoutStore = this.#context.decideWithoutStore;
    this.#prefetch = new Prefetch(this);
    this.#denyCache = new DenyCache(denyCache, this.#context.invalidations, {
      name: 'deny-cache',
      decider: this,
    });
    this.times = new TimeLimits(store, deadline);
    store.expect?.(this.times.usual.ms);
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
    return this.dispatch(PendingCall.of(call), THE_ANSWER);
  }

  /** Returns at once if the deny cache answers. */
  dispatch<T>(call: KeyCall, finisher: Finisher<T>): MaybePromise<T> {
    const prefetches = call.several !== undefined || call.limit.prefetch !== undefined;
    const cache = this.#denyCache;
    const isHere = prefetches && this.#prefetch.mayAnswer(call);
    let denial = isHere || cache.isEmpty ? undefined : cache.find(call);
    if (denial !== undefined && cache.isFresh(denial)) {
      const answer = cache.answer(denial);
      const atOnce = mayAnswerNow();
      cache.shareClock();
      return atOnce ? finisher.finish(call, answer) : finishNextTurn(call, answer, finisher);
    }
    const pending = PendingCall.of(call);
    const result = pending.begin(finisher, this);
    if (prefetches && this.#prefetch.handles(pending)) return result;
    if (isHere) denial = cache.find(pending);
    if (denial === undefined) this.#enter(pending);
    else this.#hold(pending, denial, result);
    return result;
  }

  #decideNow(call: KeyCall): Answer {
    const here = call.limit.prefetch && this.#prefetch.takeNow(call);
    if (here !== undefined) return here;
    const cache = this.#denyCache;
    const denial = cache.isEmpty ? undefined : cache.find(call);
    if (denial !== undefined && cache.isFresh(denial)) return cache.answer(denial);
    const node = this.#context.nodeAt(storageKey(call));
    const out = node?.circuit.error;
    if (out !== undefined) return this.decideWithoutStore(call, hasFallback(call) ? out : whileOpen(out));
    const ticket = node?.circuit.enter() ?? 0;
    const sentAt = this.clock.now();
    let answer: Answer;
    try {
      answer = this.store.decideNow!(call);
    } catch (error) {
      // A call that may not wait fails by that, and the store is well. Only a trial call needs a result.
      const couldNotWait = isStoreUnavailableError(error) && error.reason === 'timeout';
      if (node !== undefined && !(couldNotWait && node.circuit.closed))
        this.#context.failed(node, ticket, error, storageKey(call), () => this.#peek(call.parts));
      if (!isStoreUnavailableError(error)) throw error;
      return this.decideWithoutStore(call, error);
    }
    node?.succeeded(ticket);
    if (!answer.allowed && !call.traced) cache.remember(call, answer, sentAt);
    return answer;
  }

  /** Decides without prefetched permits. @param deadline of a call that may need several requests */
  request(call: Call, deadline?: CallDeadline): Promise<Answer> {
    const pending = PendingCall.of(call);
    const answer = pending.begin(THE_ANSWER, this);
    pending.ownDeadline = deadline;
    const denial = this.#denyCache.find(pending);
    if (denial === undefined) this.#enter(pending);
    else this.#hold(pending, denial, answer);
    return answer;
  }

  /** Answers a call by its cached denial, lets it renew the denial, or lets it wait for the call that does. */
  #hold(call: PendingCall, denial: Denial, result: Promise<unknown>): void {
    if (this.#denyCache.isFresh(denial)) {
      const answer = this.#denyCache.answer(denial);
      answerInTurn(() => call.resolve(answer));
    } else if (denial.waiting === undefined || !hasBackground) {
      // Without a background no call waits for another: it may be of another request, whose answers end with it.
      this.#denyCache.renew(denial, call);
      this.#enter(call);
    } else {
      if (call.ownDeadline === undefined) {
        const deadline = this.times.newDeadline();
        const end = () => deadline.end();
        call.ownDeadline = deadline;
        result.then(end, end);
      }
      call.ownDeadline.begin();
      denial.waiting.push(call);
    }
  }

  #enter(call: PendingCall): void {
    const context = this.#context;
    if (call.operation !== 'consume') context.invalidations.add(call);
    if (call.ownDeadline?.over) {
      // The store did nothing wrong, so its circuit does not count it.
      this.#decideWithoutStore(call, this.times.usual.late(true));
      return;
    }
    const node = context.onlyNode ?? context.nodeAt(storageKey(call));
    if (node !== undefined) {
      const { error } = node.circuit;
      if (error !== undefined && !node.circuit.letsTry()) {
        const reason = hasFallback(call) ? error : whileOpen(error);
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

  #depart(call: PendingCall, given?: Deadlines): void {
    const { store } = this;
    const until = this.#context.health?.isKnown ? undefined : store.firstConnectionUntil;
    const { usual, first } = this.times;
    const deadlines = given ?? (until === undefined ? usual : first);
    call.ownDeadline?.applyTo(call);
    if (call.over) return;
    if (given !== undefined) store.expect?.(given.ms);
    const departure = store.send?.(call) ?? departAlone(call, store, deadlines.ms);
    if (call.ownDeadline !== undefined) return;
    // Calls of one departure share a deadline: one reading of the clock and one link in the list for all.
    call.deadlines = deadlines;
    for (let one = departure.deadline; one !== undefined; one = one.next) {
      if (one.deadlines === deadlines) return;
    }
    departure.deadline = new DepartureDeadline(departure, deadlines, departure.deadline);
    deadlines.begin(departure.deadline, departure.began, until);
  }

  /** The store has answered, or what decides in its place. */
  answered(call: PendingCall, answer: Answer): void {
    if (call.over) return;
    const { node, operation, renews } = call;
    if (node !== undefined && !node.isWell) node.succeeded(call.ticket);
    if (operation !== 'consume') this.#context.invalidations.add(call);
    else if (!answer.allowed && !call.traced) {
      const { departure } = call;
      this.#denyCache.remember(call, answer, departure?.localTime ?? 0, departure?.began);
    }
    if (call.limit.prefetch !== undefined) this.#prefetch.learn(call, answer);
    const waiting = renews && this.#denyCache.renewed(call);
    call.resolve(answer);
    if (waiting !== undefined) for (const one of waiting) this.#resume(one, answer);
  }

  failed(call: PendingCall, error: unknown): void {
    if (call.over) return;
    const { node, ticket } = call;
    if (node !== undefined) {
      call.node = undefined; // what decides in its place says nothing about it
      this.#context.failed(node, ticket, error, storageKey(call), () => this.#peek(call.parts));
    }
    if (isStoreUnavailableError(error)) this.#decideWithoutStore(call, error);
    else this.#reject(call, error);
  }

  #reject(call: PendingCall, error: unknown): void {
    this.#context.invalidations.add(call);
    const waiting = this.#denyCache.renewed(call);
    call.reject(error);
    // A second request would take the time of a second deadline.
    if (waiting !== undefined) for (const one of waiting) one.reject(error);
  }

  /** The denial that a call waited for was renewed or removed. */
  #resume(call: PendingCall, answer: Answer): void {
    const denial = this.#denyCache.find(call, false);
    if (denial !== undefined) call.resolve(this.#denyCache.answer(denial));
    else if (isDegraded(answer)) call.follow(decideByFallback(answer, call));
    else this.#enter(call);
  }

  #decideWithoutStore(call: PendingCall, error: StoreUnavailableError): void {
    let answer: Answer;
    try {
      answer = this.decideWithoutStore(call, error);
    } catch (reason) {
      this.#reject(call, reason);
      return;
    }
    this.answered(call, answer);
  }

  onOutage(key: string, listener: (error: StoreUnavailableError) => void): () => void {
    return this.#context.nodeAt(key)?.circuit.onOpen(listener) ?? (() => {});
  }

  async #listen(key: string, granted: (id: number) => void): Promise<() => void> {
    try {
      return await this.store.listen!(key, granted);
    } catch (error) {
      // Calls report outages. The calls of a user who may not subscribe pass.
      if (isStoreRefusal(error)) this.#context.nodeAt(key)?.failed(error);
      throw error;
    }
  }

  rate(change: RateChange): Promise<RateAnswer> {
    return this.#context.changeRate(change, this.times);
  }

  #peek(parts: Call['parts']): Promise<Answer> {
    const call = PendingCall.of({ operation: 'peek', wait: 0, parts });
    const answer = call.begin(THE_ANSWER);
    this.#depart(call, this.times.probe);
    return answer;
  }
}

/** A function of its own: its closure would cost each call of `dispatch` an object. */
const finishNextTurn = <T>(call: KeyCall, answer: Answer, finisher: Finisher<T>): Promise<T> =>
  nextTurn().then(() => finisher.finish(call, answer));
