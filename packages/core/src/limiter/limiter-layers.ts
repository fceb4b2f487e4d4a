import { withDenyCache } from '../pipeline/deny-cache.js';
import { withPrefetch } from '../pipeline/prefetch.js';
import { withResilience } from '../pipeline/resilience.js';
import type { Store } from '../stores/store.js';

/**
 * The layers between limiters and their store: prefetched permits, deny cache, deadline and failure policy.
 * @param options deadline and lifetime of a cached denial, in µs
 */
export const layersOf = (
  store: Store,
  { deadline, denyCache }: { readonly deadline: number; readonly denyCache: number },
): Store => withPrefetch(withDenyCache(withResilience(store, deadline), denyCache, store));
