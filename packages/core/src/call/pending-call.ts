import type { Parameters } from '../algorithms/algorithm.js';
import type { StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import { type Answer, type Call, type Finisher, KeyCall, type Operation, type Part } from './call.js';
import type { CallDeadline, Deadlines, Departure, TimedCall } from './deadlines.js';
import type { Booking, Limit } from './limit.js';

/** The server that a call is sent to; see `NodeHealth`. */
export interface CallNode {
  /** Of a cluster: `host:port`. */
  readonly node: string | undefined;
  /** No failure since the last success. */
  readonly isWell: boolean;
  readonly circuit: {
    failed(ticket: number, error: StoreUnavailableError, probe: () => Promise<unknown>): void;
    replaced(): void;
  };
  succeeded(ticket: number): void;
  failed(error: StoreUnavailableError | StoreConfigurationError): void;
}

/** Learns how a call ended, and ends it: the pipeline, or for a call without a pipeline `DIRECT`. */
export interface CallOwner {
  /** The store has answered. */
  answered(call: PendingCall, answer: Answer): void;
  /** The store has failed, or there is no time left. */
  failed(call: PendingCall, error: unknown): void;
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

/** For calls that reach a store without a pipeline. */
const DIRECT: CallOwner = {
  answered: (call, answer) => {
    if (!call.over) call.resolve(answer);
  },
  failed: (call, error) => {
    if (!call.over) call.reject(error);
  },
};

/** For calls whose result is the answer itself. */
export const THE_ANSWER: Finisher<Answer> = { finish: (_, answer) => answer };

const nothing = (): void => {};

/** A call to a remote store: the one object that travels from the limiter to the reply and back. */
export class PendingCall extends KeyCall implements TimedCall {
  // Set in the constructor: as initializers of fields they would take half as long again.
  /** It was answered, failed or was abandoned. A later answer is ignored. */
  declare over: boolean;
  declare departure: Departure | undefined;
  /** Ends it together with the others of its departure. */
  declare deadlines: Deadlines | undefined;
  /** The node whose circuit admitted it, and the ticket. */
  declare node: CallNode | undefined;
  declare ticket: number;
  // From here on: of a call that has begun.
  declare begun: boolean;
  declare owner: CallOwner;
  declare private finisher: Finisher<unknown>;
  declare private resolvePromise: (value: unknown) => void;
  declare private rejectPromise: (error: unknown) => void;
  /** Ends it alone: of a call that may need several requests. */
  declare ownDeadline?: CallDeadline | undefined;
  /** The cached denial that it renews. */
  declare renews?: Renewal;

  constructor(
    operation: Operation,
    wait: number,
    limit: Limit,
    key: string,
    cost: number,
    at: number,
    several?: readonly Part[],
    traced?: boolean,
    overrides?: readonly Parameters[],
    booking?: Booking,
  ) {
    super(operation, wait, limit, key, cost, at, several, traced, overrides, booking);
    this.over = false;
    this.departure = undefined;
    this.deadlines = undefined;
    this.node = undefined;
    this.ticket = 0;
    this.owner = DIRECT;
    this.finisher = THE_ANSWER;
    this.resolvePromise = nothing;
    this.rejectPromise = nothing;
  }

  /** The call itself, or one like it if it has begun. */
  static override of(call: Call): PendingCall {
    if (call instanceof PendingCall && !call.begun) return call;
    const { operation, wait, parts, traced, overrides } = call;
    const { limit, key, cost, at, booking } = parts[0]!;
    const several = parts.length > 1 ? parts : undefined;
    return new PendingCall(operation, wait, limit, key, cost, at, several, traced, overrides, booking);
  }

  /** Until then a call has only its parts and costs. Once. @returns what `finisher` makes of its answer */
  begin<T>(finisher: Finisher<T>, owner: CallOwner = DIRECT): Promise<T> {
    this.begun = true;
    this.owner = owner;
    this.finisher = finisher;
    const promise = new Promise<T>(keep as never);
    this.resolvePromise = resolveNew;
    this.rejectPromise = rejectNew;
    return promise;
  }

  /** The store has failed, or there is no time left. */
  failed(error: unknown): void {
    this.owner.failed(this, error);
  }

  resolve(answer: Answer): void {
    this.over = true;
    if (this.departure !== undefined) this.departure.hasEnded = true;
    this.departure = undefined; // a decision that is kept would keep all its calls
    try {
      this.resolvePromise(this.finisher.finish(this, answer));
    } catch (error) {
      this.reject(error);
    }
  }

  /** Settles as `answer` does. */
  follow(answer: MaybePromise<Answer>): void {
    if (!isPromise(answer)) this.resolve(answer);
    else
      answer.then(
        (settled) => this.resolve(settled),
        (error) => this.reject(error),
      );
  }

  reject(error: unknown): void {
    this.over = true;
    if (this.departure !== undefined) this.departure.hasEnded = true;
    this.departure = undefined; // a decision that is kept would keep all its calls
    this.finisher.failed?.(this, error);
    this.rejectPromise(error);
  }
}
