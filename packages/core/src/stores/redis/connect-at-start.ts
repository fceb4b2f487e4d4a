import { isStoreConfigurationError, isStoreUnavailableError } from '../../errors.js';
import type { Store } from '../store.js';

/** One attempt per store, however many limits use it. */
const attempts = new WeakMap<Store, Promise<void>>();

/**
 * For adapters with a start hook: connects the store, so that the first request finds a connection. The server also starts if the store
 * is out or not set up correctly; a listener gets the error, or a warning reports it. To require the store, await `store.connect()` first.
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
