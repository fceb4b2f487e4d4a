import { performance } from 'node:perf_hooks';
import type { Decision } from '../decision.js';
import type { Operation } from '../engine/call.js';
import { isRateLimitExceededError, isStoreUnavailableError } from '../errors.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import type { PolicyPart, PolicyParts } from '../pipeline/policy-limit.js';
import { DECIDE, DECISION, isTraced, WAIT } from '../telemetry/channels.js';
import type { CallResult, DecisionMessage, LimitedPart } from '../telemetry/messages.js';

/** What subscribers get of one call. Created only if there are any. */
export class CallMessage implements DecisionMessage {
  readonly operation: DecisionMessage['operation'];
  readonly mode: 'enforce' | 'shadow';
  readonly startedAt = performance.now();
  result: CallResult | undefined = undefined;
  decision: Decision | undefined = undefined;
  error: unknown = undefined;
  readonly #call: PolicyParts;
  readonly #signal: AbortSignal | undefined;
  /** Does it wait? */
  #waits = false;
  /** Has a traced `run` returned, so that `asyncStart` and `asyncEnd` must follow? */
  #returned = false;

  /** @param signal ends the call early */
  constructor(
    readonly limiter: string,
    operation: Operation,
    call: PolicyParts,
    shadow: boolean,
    signal?: AbortSignal,
  ) {
    this.operation = operation as DecisionMessage['operation'];
    this.mode = shadow ? 'shadow' : 'enforce';
    this.#call = call;
    this.#signal = signal;
  }

  get key(): string {
    return this.#bound().key;
  }

  get cost(): number {
    return this.#bound().cost;
  }

  get parts(): readonly LimitedPart[] {
    return this.#call.parts.map(({ limit, key, cost }) => ({ policy: limit.name, key, cost }));
  }

  /** Runs the call. It must call `ended` unless it fails. */
  run<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    if (!isTraced()) return this.#run(call);
    return DECIDE.start.runStores(this, () => {
      try {
        return this.#run(call);
      } finally {
        DECIDE.end.publish(this);
        this.#returned = true;
      }
    });
  }

  #run<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    try {
      const value = call();
      if (isPromise(value)) value.then(undefined, this.#failed);
      return value;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** The call begins to wait. */
  waits(): void {
    this.#waits = true;
    WAIT.publish(this);
  }

  ended(decision: Decision): Decision {
    this.decision = decision;
    this.#end(decision.allowed ? 'allowed' : 'denied');
    return decision;
  }

  readonly #failed = (error: unknown): void => {
    const denial =
      isRateLimitExceededError(error) || isStoreUnavailableError(error) ? error.decision : undefined;
    if (denial !== undefined) {
      this.ended(denial);
      return;
    }
    this.error = error;
    const canceled = this.#signal?.aborted === true && error === this.#signal.reason;
    if (!canceled) DECIDE.error.publish(this);
    this.#end(canceled ? 'canceled' : 'error');
  };

  #end(result: CallResult): void {
    this.result = result;
    if (this.#waits) WAIT.publish(this);
    if (this.operation !== 'peek') DECISION.publish(this);
    if (this.#returned) DECIDE.asyncStart.runStores(this, () => DECIDE.asyncEnd.publish(this));
  }

  #bound(): PolicyPart {
    const { parts } = this.#call;
    const policy = this.decision?.policy;
    return (policy === undefined ? undefined : parts.find(({ limit }) => limit.name === policy)) ?? parts[0]!;
  }
}
