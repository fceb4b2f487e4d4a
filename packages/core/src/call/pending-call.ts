import type { NodeHealth } from '../health/store-health.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import { type Answer, type Call, type Finisher, KeyCall } from './call.js';
import type { CallDeadline } from './call-deadline.js';
import type { Deadlines, Departure, TimedCall } from './deadlines.js';

/** Handles the end of a call: the pipeline, or for a call without a pipeline the call itself. */
export interface CallOwner {
  complete(call: PendingCall, answer: Answer): void;
  fail(call: PendingCall, error: unknown): void;
}

/** A cached denial that one call renews while equal calls wait. */
export interface Renewal {
  /** Equal calls that wait for the renewing call; undefined while there is none. */
  waiting: PendingCall[] | undefined;
}

let resolveNew: (value: unknown) => void;
let rejectNew: (error: unknown) => void;
/** One function for all promises: a closure for each would be one more object per decision. */
const keep = (resolve: (value: unknown) => void, reject: (error: unknown) => void): void => {
  resolveNew = resolve;
  rejectNew = reject;
};

/** A call on its way to its answer: the one object that travels from the limiter to the reply and back. */
export class PendingCall<T = unknown> implements TimedCall {
  readonly promise: Promise<T>;
  /** It was answered, failed or was abandoned. A later answer is ignored. */
  over = false;
  departure: Departure | undefined = undefined;
  /** Ends it together with the others of its departure. */
  deadlines: Deadlines | undefined = undefined;
  /** Ends it alone: of a call that may need several requests. */
  ownDeadline: CallDeadline | undefined = undefined;
  /** The node whose circuit admitted it, and the ticket. */
  node: NodeHealth | undefined = undefined;
  ticket = 0;
  /** The cached denial that it renews. */
  renews: Renewal | undefined = undefined;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    readonly call: KeyCall,
    readonly owner: CallOwner,
    readonly finisher: Finisher<T>,
  ) {
    this.promise = new Promise(keep as never);
    this.#resolve = resolveNew;
    this.#reject = rejectNew;
  }

  /** The store has answered. */
  answered(answer: Answer): void {
    this.owner.complete(this as PendingCall, answer);
  }

  /** The store has failed, or there is no time left. */
  failed(error: unknown): void {
    this.owner.fail(this as PendingCall, error);
  }

  resolve(answer: Answer): void {
    this.#end();
    let value: T;
    try {
      value = this.finisher.finish(this.call, answer);
    } catch (error) {
      this.reject(error);
      return;
    }
    this.#resolve(value);
  }

  /** Settles as `answer` does. */
  follow(answer: MaybePromise<Answer>): void {
    if (isPromise(answer)) {
      answer.then(
        (settled) => this.resolve(settled),
        (error) => this.reject(error),
      );
    } else {
      this.resolve(answer);
    }
  }

  reject(error: unknown): void {
    this.#end();
    this.finisher.failed?.(this.call, error);
    this.#reject(error);
  }

  #end(): void {
    this.over = true;
    const { departure } = this;
    if (departure !== undefined) departure.hasEnded = true;
  }
}

/** For calls whose result is the answer itself. */
export const THE_ANSWER: Finisher<Answer> = { finish: (_, answer) => answer };

/** For calls that reach a store without a pipeline. */
const DIRECT: CallOwner = {
  complete: (call, answer) => {
    if (!call.over) call.resolve(answer);
  },
  fail: (call, error) => {
    if (!call.over) call.reject(error);
  },
};

/** A call without deny cache, circuit, deadline and fallback. */
export const directCall = (call: Call): PendingCall<Answer> =>
  new PendingCall(KeyCall.of(call), DIRECT, THE_ANSWER);
