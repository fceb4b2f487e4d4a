import type { Answer, Call, Operation } from '../decisions/call.js';
import { isStoreConfigurationError, isStoreUnavailableError, StoreUnavailableError } from '../errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Store } from '../stores/store.js';
import type { NodeHealth } from '../stores/store-health.js';
import { withDeadline } from './deadline.js';
import { standInsOf } from './stand-ins.js';

/** What a failure policy can answer; all else is about what the store holds. */
const DECISIONS: readonly Operation[] = ['consume', 'peek', 'acquire'];

/**
 * A store with a deadline that is asked no more while it, or the node of a cluster in question, is known to be out. What it does not decide,
 * the failure policies of the parts do; an error of its configuration no policy answers.
 * @param deadline µs
 */
export function withResilience(store: Store, deadline: number): Store {
  const bounded = withDeadline(store, deadline);
  const { health } = store;
  if (health === undefined) return bounded;

  const nodeOf = (key: string): NodeHealth => health.node(store.nodeOf?.(key) ?? '');

  const unanswered = (call: Call, error: StoreUnavailableError): Answer => {
    if (error.reason === 'closed' || !isDecision(call)) throw error;
    return standInsOf(store, health).answer(call, error);
  };

  return {
    ...bounded,
    get slotted() {
      return store.slotted;
    },
    decide(call) {
      const node = nodeOf(call.parts[0]!.key);
      const { error } = node.breaker;
      if (error !== undefined)
        return isDecision(call) ? unanswered(call, error) : Promise.reject(known(error));
      const ticket = node.breaker.enter();
      return Promise.resolve(bounded.decide(call)).then(
        (answer) => {
          node.breaker.succeeded(ticket);
          return answer;
        },
        (reason) => {
          failed(node, ticket, reason, () =>
            bounded.decide({ operation: 'peek', wait: 0, parts: call.parts }),
          );
          if (isStoreUnavailableError(reason)) return unanswered(call, reason);
          throw reason;
        },
      );
    },
    async rate(change) {
      const node = nodeOf(change.key);
      const { error } = node.breaker;
      if (error !== undefined) throw known(error);
      const ticket = node.breaker.enter();
      try {
        const answer = await bounded.rate(change);
        node.breaker.succeeded(ticket);
        return answer;
      } catch (reason) {
        failed(node, ticket, reason, () => bounded.rate({ action: 'get', key: change.key }));
        throw reason;
      }
    },
  };
}

const isDecision = ({ operation, parts }: Call): boolean =>
  DECISIONS.includes(operation) && parts.every(({ standIn }) => standIn !== undefined);

/** @param look asks about the same keys, and changes nothing */
function failed(node: NodeHealth, ticket: number, error: unknown, look: () => MaybePromise<unknown>): void {
  const unavailable = isStoreUnavailableError(error);
  if (unavailable || isStoreConfigurationError(error)) node.failed(error);
  if (unavailable) node.breaker.failed(ticket, error, () => answered(look));
  else node.breaker.succeeded(ticket); // it has answered
}

/** A store that says how it is set up wrongly is not out: the next caller must be told so, by no failure policy. */
async function answered(look: () => MaybePromise<unknown>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!isStoreConfigurationError(error)) throw error;
  }
}

/** For who is answered at once, and not when a deadline has passed. */
function known(error: StoreUnavailableError): StoreUnavailableError {
  const { message, reason } = error;
  return new StoreUnavailableError(`${message}; it is out, and not asked until it answers again`, {
    reason,
    cause: error,
  });
}
