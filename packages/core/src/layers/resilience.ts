import type { Answer, Call, Operation, Part } from '../decisions/call.js';
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

  /**
   * Asks, and changes nothing. A store that says no is not out: how it is set up wrongly the next caller must be told, by no failure policy,
   * and that a shared rate is gone, perhaps with all that the store held, so that he sets it again.
   * A cluster may have given the key to another node meanwhile: then nobody asks this one any more.
   */
  const looking = (node: NodeHealth, key: string, ask: () => MaybePromise<unknown>) => async () => {
    try {
      await ask();
    } catch (error) {
      if (isStoreUnavailableError(error)) throw error;
    }
    if (nodeOf(key) !== node) node.breaker.replaced();
  };

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
      const [{ key }] = call.parts as [Part];
      const node = nodeOf(key);
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
          const peek: Call = { operation: 'peek', wait: 0, parts: call.parts };
          failed(
            node,
            ticket,
            reason,
            looking(node, key, () => bounded.decide(peek)),
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
        const get = () => bounded.rate({ action: 'get', key: change.key });
        failed(node, ticket, reason, looking(node, change.key, get));
        throw reason;
      }
    },
  };
}

const isDecision = ({ operation, parts }: Call): boolean =>
  DECISIONS.includes(operation) && parts.every(({ standIn }) => standIn !== undefined);

function failed(node: NodeHealth, ticket: number, error: unknown, look: () => Promise<void>): void {
  const unavailable = isStoreUnavailableError(error);
  if (unavailable || isStoreConfigurationError(error)) node.failed(error);
  if (unavailable) node.breaker.failed(ticket, error, look);
  else node.breaker.succeeded(ticket); // it has answered
}

/** For who is answered at once, and not when a deadline has passed. */
function known(error: StoreUnavailableError): StoreUnavailableError {
  const { message, reason } = error;
  return new StoreUnavailableError(`${message}; it is out, and not asked until it answers again`, {
    reason,
    cause: error,
  });
}
