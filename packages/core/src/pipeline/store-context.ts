import { performance } from '#platform';
import type { Answer, Call } from '../call/call.js';
import type { Deadlines, Departure } from '../call/deadlines.js';
import type { CallNode, PendingCall } from '../call/pending-call.js';
import { isStoreConfigurationError, isStoreUnavailableError, type StoreUnavailableError } from '../errors.js';
import { type Ticket, whileOpen } from '../health/circuit.js';
import type { NodeHealth, StoreHealth } from '../health/store-health.js';
import { getOrCreate } from '../maps.js';
import { isOutage, isStoreRefusal } from '../store-refusal.js';
import type { RateAnswer, RateChange } from '../stores/shared-rate.js';
import type { Store } from '../stores/store.js';
import { Invalidations } from './deny-cache.js';
import { fallbackOf, type MakeLocalStore } from './fallback.js';
import type { TimeLimits } from './time-limits.js';
import { answerInTurn } from './turns.js';

/** What all pipelines to one store share. */
export class StoreContext {
  readonly invalidations = new Invalidations();
  readonly health: StoreHealth | undefined;
  /** The only node, if the store is no cluster: from the first `nodeAt` on. */
  onlyNode: NodeHealth | undefined;
  readonly #store: Store;
  /** Decides by the failure policies. @throws `error` if none applies, or the error of a failure policy */
  readonly decideWithoutStore: (call: Call, error: StoreUnavailableError) => Answer;

  constructor(store: Store, makeLocal: MakeLocalStore) {
    const { health, clock } = store;
    this.#store = store;
    this.health = health;
    if (health === undefined) {
      // It is unknown whether the store is out: calls reject with its errors.
      this.decideWithoutStore = (_, error) => {
        throw error;
      };
      return;
    }
    const local = makeLocal({ clock });
    this.decideWithoutStore = fallbackOf(local);
    health.whenEnded(() => local.close());
  }

  /** The node of a storage key; undefined without `health`. */
  nodeAt(key: string): NodeHealth | undefined {
    const store = this.#store;
    if (store.slotted) return this.health?.node(store.nodeOf?.(key) ?? '');
    this.onlyNode = this.health?.node('');
    return this.onlyNode;
  }

  /** Changes or reads a shared rate: with a script of its own, and the circuit and deadline of all calls. */
  async changeRate(change: RateChange, times: TimeLimits): Promise<RateAnswer> {
    const node = this.nodeAt(change.key);
    const error = node?.circuit.error;
    if (error !== undefined && !node!.circuit.letsTry()) {
      await new Promise<void>(answerInTurn);
      throw whileOpen(error);
    }
    const ticket = node?.circuit.enter() ?? 0;
    try {
      const answer = await sendChange(change, times);
      node?.succeeded(ticket);
      return answer;
    } catch (reason) {
      const read = () => sendChange({ action: 'get', key: change.key }, times, times.probe);
      if (node !== undefined) this.failed(node, ticket, reason, change.key, read);
      throw reason;
    }
  }

  /** A call has failed. @param read reads from the key without changing anything, to find out whether the node is back */
  failed(node: CallNode, ticket: Ticket, error: unknown, key: string, read: () => Promise<unknown>): void {
    const unavailable = isStoreUnavailableError(error);
    if (unavailable && error.reason === 'closed') return; // by its owner
    if (unavailable || isStoreConfigurationError(error)) node.failed(error);
    if (isOutage(error)) node.circuit.failed(ticket, error, () => this.#probe(node, key, read));
    else node.succeeded(ticket); // it has answered
  }

  /**
   * A store that refuses a key is not out: the next call gets its error, such as a missing right. A cluster may have moved the key to another node:
   * then no call needs this node.
   */
  async #probe(node: CallNode, key: string, read: () => Promise<unknown>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (isOutage(error)) {
        // The cause may have become one that a person must mend.
        if (isStoreRefusal(error)) node.failed(error);
        throw error;
      }
    }
    if (this.nodeAt(key) !== node) node.circuit.replaced();
  }
}

async function sendChange(change: RateChange, times: TimeLimits, limits?: Deadlines): Promise<RateAnswer> {
  const { store, usual } = times;
  await store.loading;
  const deadline = times.newDeadline(limits);
  const state = { abandoned: false, deadline: (limits ?? usual).ms };
  try {
    return await new Promise<RateAnswer>((resolve, reject) => {
      const failed = (error: unknown) => {
        state.abandoned = true;
        reject(error);
      };
      deadline.applyTo({ over: false, departure: undefined, deadlines: undefined, failed });
      store.rate!(change, state).then(resolve, reject);
    });
  } finally {
    deadline.end();
  }
}

const contexts = new WeakMap<Store, StoreContext>();

export const contextOf = (store: Store, makeLocal: MakeLocalStore): StoreContext =>
  getOrCreate(contexts, store, () => new StoreContext(store, makeLocal));

/**
 * Sends a call to a store that does not send calls together.
 * @param deadline ms
 */
export function departAlone(call: PendingCall, store: Store, deadline: number): Departure {
  const departure: Departure = {
    began: performance.now(),
    localTime: store.clock.now(),
    sent: true, // possibly: only the store knows
    hasEnded: false,
    deadline: undefined,
    each: (visit) => visit(call),
  };
  call.departure = departure;
  const caller = {
    get abandoned() {
      return call.over;
    },
    deadline,
  };
  // The executor turns what the store throws at once into a rejection.
  new Promise<Answer>((resolve) => resolve(store.decide(call, caller)))
    .finally(() => departure.deadline?.deadlines.end(departure.deadline))
    .then((answer) => call.owner.answered(call, answer))
    .catch((error) => call.failed(error)); // also if the answer is none
  return departure;
}
