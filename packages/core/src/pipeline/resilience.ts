import { type Answer, type Call, type Operation, storageKey } from '../engine/call.js';
import { isStoreConfigurationError, isStoreUnavailableError, StoreUnavailableError } from '../errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Ticket } from '../stores/circuit.js';
import type { RateAnswer, RateChange } from '../stores/shared-rate.js';
import type { Fallback, Store } from '../stores/store.js';
import type { NodeHealth, StoreHealth } from '../stores/store-health.js';
import { around } from './around.js';
import type { Asking } from './asking.js';
import { bounded, Limited, withDeadline } from './deadline.js';
import { standInsOf } from './fallback.js';
import { policyParts } from './policy-limit.js';
import { answerInTurn } from './turns.js';

/** What a failure policy can answer; all else is about what the store holds. */
const DECISIONS: readonly Operation[] = ['consume', 'peek', 'acquire'];

/**
 * µs that a look whether a store is back may take: its answer holds for all limiters of the store, also where the one that failed is
 * in a greater hurry than the network allows, or would wait for an hour.
 */
const SHORTEST_LOOK = 100_000;
const LONGEST_LOOK = 5_000_000;

/**
 * A store with a deadline that is asked no more while it, or the node of a cluster in question, is known to be out. What it does not decide,
 * the failure policies of the parts do; an error of its configuration no policy answers.
 * @param deadline µs
 */
export function withResilience(store: Store, deadline: number): Store {
  const { health } = store;
  if (!store.remote || health === undefined) return withDeadline(store, deadline);
  const inner = bounded(store, deadline);
  const nodeOf = (key: string): NodeHealth => health.node(store.nodeOf?.(key) ?? '');
  const patient = bounded(store, Math.min(LONGEST_LOOK, Math.max(SHORTEST_LOOK, deadline)));
  const guard: Guard = { store, health, patient, nodeOf };

  const ask = (asking: Asking): void => {
    const node = nodeOf(storageKey(asking.call.parts[0]!));
    const { error } = node.circuit;
    // The store did nothing wrong here, so its circuit does not count it.
    if (asking.budget?.over) decideWithout(guard, asking, inner.late(true));
    else if (error === undefined) inner.limit(new Guarded(asking, guard, node));
    else if (isDecision(asking.call)) answerInTurn(() => decideWithout(guard, asking, error));
    else answerInTurn(() => asking.failed(known(error)));
  };

  const fallback: Fallback = {
    decide: (call, error) => decidedWithout(guard, call, error),
    onOutage: (key, listener) => nodeOf(key).circuit.onOpen(listener),
  };

  return around(inner, {
    ask,
    fallback,
    async rate(change: RateChange): Promise<RateAnswer> {
      const node = nodeOf(change.key);
      const { error } = node.circuit;
      if (error !== undefined) {
        await new Promise<void>(answerInTurn);
        throw known(error);
      }
      const ticket = node.circuit.enter();
      try {
        const answer = await inner.rate(change);
        node.succeeded(ticket);
        return answer;
      } catch (reason) {
        const get = () => patient.rate({ action: 'get', key: change.key });
        failed(node, ticket, reason, looking(guard, node, change.key, get));
        throw reason;
      }
    },
  });
}

interface Guard {
  readonly store: Store;
  readonly health: StoreHealth;
  /** To look with. */
  readonly patient: Store;
  nodeOf(key: string): NodeHealth;
}

/** A call whose end the circuit of its node is told, and which the failure policies answer where the store does not. */
class Guarded extends Limited {
  readonly #guard: Guard;
  readonly #node: NodeHealth;
  readonly #ticket: Ticket;

  constructor(asking: Asking, guard: Guard, node: NodeHealth) {
    super(asking);
    this.#guard = guard;
    this.#node = node;
    this.#ticket = node.circuit.enter();
  }

  override answered(answer: Answer): void {
    if (!this.end()) return;
    this.#node.succeeded(this.#ticket);
    this.asking.answered(answer);
  }

  override failed(error: unknown): void {
    if (!this.end()) return;
    const { parts } = this.call;
    const peek: Call = { operation: 'peek', wait: 0, parts };
    const look = looking(this.#guard, this.#node, storageKey(parts[0]!), () =>
      this.#guard.patient.decide(peek),
    );
    failed(this.#node, this.#ticket, error, look);
    if (isStoreUnavailableError(error)) decideWithout(this.#guard, this.asking, error);
    else this.asking.failed(error);
  }
}

/** By the failure policies; what none of them decides, and what they throw, is an error. */
function decidedWithout({ store, health }: Guard, call: Call, error: StoreUnavailableError): Answer {
  if (error.reason === 'closed' || !isDecision(call)) throw error;
  return standInsOf(store, health).answer(call, error);
}

function decideWithout(guard: Guard, asking: Asking, error: StoreUnavailableError): void {
  let answer: Answer;
  try {
    answer = decidedWithout(guard, asking.call, error);
  } catch (reason) {
    asking.failed(reason);
    return;
  }
  asking.answered(answer);
}

const isDecision = (call: Call): boolean =>
  DECISIONS.includes(call.operation) && policyParts(call).every(({ limit }) => limit.fallback !== undefined);

/**
 * Asks, and changes nothing. A store that says no is not out: how it is set up wrongly the next caller must be told, by no failure policy,
 * and that a shared rate is gone, perhaps with all that the store held, so that he sets it again.
 * A cluster may have given the key to another node meanwhile: then nobody asks this one any more.
 */
function looking({ nodeOf }: Guard, node: NodeHealth, key: string, ask: () => MaybePromise<unknown>) {
  return async () => {
    try {
      await ask();
    } catch (error) {
      if (isStoreUnavailableError(error)) throw error;
    }
    if (nodeOf(key) !== node) node.circuit.replaced();
  };
}

function failed(node: NodeHealth, ticket: Ticket, error: unknown, look: () => Promise<void>): void {
  const unavailable = isStoreUnavailableError(error);
  if (unavailable && error.reason === 'closed') return; // by its owner
  if (unavailable || isStoreConfigurationError(error)) node.failed(error);
  if (unavailable) node.circuit.failed(ticket, error, look);
  else node.succeeded(ticket); // it has answered
}

/** For who is answered at once, and not when a deadline has passed. */
function known(error: StoreUnavailableError): StoreUnavailableError {
  const { message, reason } = error;
  return new StoreUnavailableError(`${message}; it is out, and not asked until it answers again`, {
    reason,
    neverSent: true,
    cause: error,
  });
}
