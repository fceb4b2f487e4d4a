import { isStoreConfigurationError, isStoreUnavailableError } from '../errors.js';
import type { Store } from './store.js';

/** One attempt for each store, however many limits a server has in it. */
const attempts = new WeakMap<Store, Promise<void>>();

/**
 * For adapters with a hook at the start of a server: connects the store, so that the first request need not. A store that is out, or set up wrongly,
 * keeps no server from starting: its listeners are told, or a warning is given. To start only with it call `store.connect()` before.
 */
export function connectAtStart(store: Store | undefined): Promise<void> {
  if (store?.connect === undefined) return Promise.resolve();
  let attempt = attempts.get(store);
  if (attempt === undefined) {
    attempt = store.connect().catch((error: unknown) => {
      if (!isStoreUnavailableError(error) && !isStoreConfigurationError(error)) throw error;
      store.health?.failedAtStart(error);
    });
    attempts.set(store, attempt);
  }
  return attempt;
}
