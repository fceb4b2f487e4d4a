import {
  type Answer,
  type Call,
  type Decider,
  type Finisher,
  type KeyCall,
  type Part,
  storageKey,
} from '../call/call.js';
import type { Decision } from '../decision.js';
import { BOARD, DECIDE, DECISION, ESCALATED, messageTime, WAIT } from '../telemetry/channels.js';
import type { CallResult, DecisionMessage, LimitedPart } from '../telemetry/messages.js';

type MessageCall = Pick<Call, 'operation' | 'parts'>;

/** Who makes the call. */
interface MessageLimiter {
  readonly name: string;
  /** A store, or the pipeline to one; each has the notice board of the store. */
  readonly decider: Decider & { readonly fleet?: object | undefined };
}

/**
 * What subscribers get of one call; created only if there are any. It has few fields, because each takes time: a message costs a third of a
 * decision in memory.
 */
class CallMessage implements DecisionMessage {
  readonly startedAt = messageTime();
  endedAt: number | undefined = undefined;
  result: CallResult | undefined = undefined;
  decision: Decision | undefined = undefined;
  error: unknown = undefined;
  readonly #limiter: MessageLimiter;
  readonly #call: MessageCall;
  readonly #shadow: boolean;
  /** `returned`: it has published `end`, so `asyncStart` and `asyncEnd` follow. */
  #traced: 'no' | 'started' | 'returned' = 'no';

  /** @param shadow the caller will not enforce the decision */
  constructor(limiter: MessageLimiter, call: MessageCall, shadow: boolean) {
    this.#limiter = limiter;
    this.#call = call;
    this.#shadow = shadow;
  }

  get limiter(): string {
    return this.#limiter.name;
  }

  get [BOARD](): object | undefined {
    return this.#limiter.decider.fleet;
  }

  get operation(): DecisionMessage['operation'] {
    return this.#call.operation as DecisionMessage['operation'];
  }

  get mode(): DecisionMessage['mode'] {
    return this.#shadow ? 'shadow' : 'enforce';
  }

  get policy(): string {
    return this.#bound().limit.name;
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

  toJSON(): DecisionMessage {
    const { limiter, operation, mode, policy, key, cost, parts } = this;
    const { startedAt, endedAt, result, decision, error } = this;
    const call = { limiter, operation, mode, policy, key, cost, parts, startedAt };
    return { ...call, endedAt, result, decision, error };
  }

  /** For `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](): DecisionMessage {
    return this.toJSON();
  }

  /** The policy that decided, or the first. */
  #bound(): Part {
    const { parts } = this.#call;
    const policy = this.decision?.policy;
    return (parts.length > 1 && parts.find(({ limit }) => limit.name === policy)) || parts[0]!;
  }

  /** Runs the call, and publishes its trace. The call ends with `ended` or `rejected`. */
  trace<T>(call: () => T): T {
    this.#traced = 'started';
    return DECIDE.start.runStores(this, () => {
      try {
        return call();
      } finally {
        DECIDE.end.publish(this);
        this.#traced = 'returned';
      }
    });
  }

  ended(decision: Decision): void {
    this.decision = decision;
    this.#end(decision.allowed ? 'allowed' : 'denied');
  }

  /** Does nothing if the call has ended: a denied `acquire` throws after its decision. */
  rejected(error: unknown, result: 'error' | 'canceled' = 'error'): void {
    if (this.result !== undefined) return;
    this.error = error;
    if (this.#traced !== 'no' && result === 'error') DECIDE.error.publish(this);
    this.#end(result);
  }

  #end(result: CallResult): void {
    this.result = result;
    this.endedAt = messageTime();
    this.publishEnd();
    if (this.#traced !== 'returned') return;
    DECIDE.asyncStart.publish(this);
    DECIDE.asyncEnd.publish(this);
  }

  protected publishEnd(): void {
    if (this.#call.operation !== 'peek') DECISION.publish(this);
  }
}

/** The message of a `consume` or a `peek`: the call's finisher, which publishes it when the call ends. */
export class DecideMessage extends CallMessage implements Finisher<Decision> {
  readonly #finisher: Finisher<Decision>;

  /** @param finisher makes the decision */
  constructor(limiter: MessageLimiter, call: KeyCall, shadow: boolean, finisher: Finisher<Decision>) {
    super(limiter, call, shadow);
    this.#finisher = finisher;
  }

  finish(call: KeyCall, answer: Answer): Decision {
    const decision = this.#finisher.finish(call, answer);
    this.ended(decision);
    return decision;
  }

  failed(call: KeyCall, error: unknown): void {
    if (this.result === undefined) this.#finisher.failed?.(call, error);
    this.rejected(error);
  }
}

/** The message of an `acquire`, which may wait and be canceled. */
export class AcquireMessage extends CallMessage {
  #waits = false;

  constructor(limiter: MessageLimiter, parts: readonly Part[]) {
    super(limiter, { operation: 'acquire', parts }, false);
  }

  /** The call begins to wait. */
  waits(): void {
    this.#waits = true;
    WAIT.publish(this);
  }

  protected override publishEnd(): void {
    if (this.#waits) WAIT.publish(this);
    super.publishEnd();
  }
}

/** Publishes the blocks that a denial has set: this process made the call, so no other one publishes them. */
export function publishEscalations(limiter: string, parts: readonly Part[], answer: Answer): void {
  if (!ESCALATED.hasSubscribers) return;
  const known = new Set<string>();
  parts.forEach((part, i) => {
    const { step = 0, blocked = 0 } = answer.parts[i]!;
    const stored = storageKey(part);
    // Parts of a combination that have the same key have one answer.
    if (step === 0 || known.has(stored)) return;
    known.add(stored);
    const { limit, key } = part;
    ESCALATED.publish({ limiter, policy: limit.name, key, step, blockedFor: Math.ceil(blocked / 1000) });
  });
}
