import type { Decision } from '../decision.js';
import type { Answer, Finisher, KeyCall, Operation } from '../engine/call.js';
import type { PolicyPart, PolicyParts } from '../pipeline/policy-limit.js';
import { DECIDE, DECISION, isTraced, WAIT } from '../telemetry/channels.js';
import { messageTime } from '../telemetry/message-time.js';
import type { CallResult, DecisionMessage, LimitedPart } from '../telemetry/messages.js';

/** What subscribers get of one call; created only if there are any. As the call's finisher it publishes itself when the call ends. */
export class CallMessage implements DecisionMessage, Finisher<Decision> {
  readonly limiter: string;
  readonly operation: DecisionMessage['operation'];
  readonly mode: DecisionMessage['mode'];
  policy: string;
  key: string;
  cost: number;
  readonly startedAt = messageTime();
  endedAt: number | undefined = undefined;
  result: CallResult | undefined = undefined;
  decision: Decision | undefined = undefined;
  error: unknown = undefined;
  readonly #call: PolicyParts;
  readonly #finisher: Finisher<Decision>;
  readonly #signal: AbortSignal | undefined;
  #waits = false;
  /** Has it published `start`? */
  #traced = false;
  /** Has it published `end`, so that `asyncStart` and `asyncEnd` follow? */
  #returned = false;

  /**
   * @param finisher makes the decision
   * @param signal cancels the call
   */
  constructor(
    limiter: string,
    operation: Operation,
    call: PolicyParts,
    first: PolicyPart,
    shadow: boolean,
    finisher: Finisher<Decision>,
    signal?: AbortSignal,
  ) {
    this.limiter = limiter;
    this.operation = operation as DecisionMessage['operation'];
    this.mode = shadow ? 'shadow' : 'enforce';
    this.policy = first.limit.name;
    this.key = first.key;
    this.cost = first.cost;
    this.#call = call;
    this.#finisher = finisher;
    this.#signal = signal;
  }

  get parts(): readonly LimitedPart[] {
    return this.#call.parts.map(({ limit, key, cost }) => ({ policy: limit.name, key, cost }));
  }

  toJSON(): DecisionMessage {
    return { ...this, parts: this.parts };
  }

  /** For `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](): DecisionMessage {
    return this.toJSON();
  }

  /** Runs the call, and traces it. The call ends with `finish`, `ended` or `failed`. */
  run<T>(call: () => T): T {
    if (!isTraced()) return this.#run(call);
    this.#traced = true;
    return DECIDE.start.runStores(this, () => {
      try {
        return this.#run(call);
      } finally {
        DECIDE.end.publish(this);
        this.#returned = true;
      }
    });
  }

  #run<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  finish(call: KeyCall, answer: Answer): Decision {
    const decision = this.#finisher.finish(call, answer);
    this.ended(decision);
    return decision;
  }

  /** The call begins to wait. */
  waits(): void {
    this.#waits = true;
    WAIT.publish(this);
  }

  ended(decision: Decision): void {
    this.decision = decision;
    if (decision.policy !== this.policy) this.#decidedBy(decision.policy);
    this.#end(decision.allowed ? 'allowed' : 'denied');
  }

  /** Does nothing if the call has ended: a denied `acquire` throws after its decision. */
  failed(error: unknown): void {
    if (this.result !== undefined) return;
    this.#finisher.failed?.(error);
    this.error = error;
    if (this.#signal?.aborted === true && error === this.#signal.reason) {
      this.#end('canceled');
      return;
    }
    if (this.#traced) DECIDE.error.publish(this);
    this.#end('error');
  }

  #end(result: CallResult): void {
    this.result = result;
    this.endedAt = messageTime();
    if (this.#waits) WAIT.publish(this);
    if (this.operation !== 'peek') DECISION.publish(this);
    if (!this.#returned) return;
    DECIDE.asyncStart.publish(this);
    DECIDE.asyncEnd.publish(this);
  }

  #decidedBy(policy: string): void {
    const part = this.#call.parts.find(({ limit }) => limit.name === policy)!;
    this.policy = policy;
    this.key = part.key;
    this.cost = part.cost;
  }
}
