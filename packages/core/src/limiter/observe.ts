import { loadFleet } from '../board/watching.js';
import type { Store } from '../stores/store.js';
import type { CallObserver, LimiterWatching, NotifyOptions, ObservedLimiter } from './observer.js';

/** What observes a limiter; undefined if nothing does. */
export const observerOf = (store: Store, limiter: ObservedLimiter): CallObserver | undefined =>
  store.usage === undefined && !limiter.notifies
    ? undefined
    : loadFleet<LimiterWatching>(`Limiter '${limiter.name}'`).observe(store, limiter);

/**
 * The thresholds of each policy that has some, by its name: in hundredths of a percent, ascending.
 * @throws TypeError, RangeError for invalid thresholds
 */
export const readNotify = (
  where: string,
  notify: NotifyOptions | undefined,
  names: readonly string[],
  several: boolean,
): ReadonlyMap<string, readonly number[]> =>
  notify === undefined
    ? new Map()
    : loadFleet<LimiterWatching>(`${where}: notify`).readNotify(where, notify, names, several);
