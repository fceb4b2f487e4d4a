import { numbersOf, packed, type RateAnswer, type RateChange, type StoredRate } from '@sluice/core/internal';
import type { KeptEntry } from './entry-table.js';

/** A shared rate with its version; see `EffectiveRate`. */
export interface KeptRate extends StoredRate {
  readonly rateVersion: number;
}

/** Reads a shared rate: the same bytes as those of `shared-rate.lua`. @throws RangeError if it is none */
export function rateOf({ entry }: KeptEntry): KeptRate {
  const [rateVersion, keepAlive, perClient, ...parameters] = numbersOf(entry!);
  if (parameters.length === 0 || perClient! > 1) throw new RangeError('the key holds no shared rate');
  return { rateVersion: rateVersion!, keepAlive: keepAlive!, perClient: perClient as 0 | 1, parameters };
}

/** Applies a change to a shared rate. `changed`: the entry to keep, unless the old one stays. */
export function changedRate(
  { action, key, rate }: RateChange,
  kept: KeptEntry | undefined,
  now: number,
): { readonly answer: RateAnswer; readonly changed?: KeptEntry } {
  const before = kept && rateOf(kept);
  if (action === 'delete') {
    const changed = { key, entry: undefined, expires: 0 };
    return { answer: { changed: kept !== undefined, rate: undefined }, changed };
  }
  const renewed = action === 'try' && kept !== undefined && kept.expires < now + before!.keepAlive;
  if (renewed) {
    const changed = { ...kept, expires: now + before!.keepAlive };
    return { answer: { changed: false, rate: before }, changed };
  }
  const idle = action === 'get' || (action === 'try' && before) || (action === 'update' && !before);
  if (idle || rate === undefined) return { answer: { changed: false, rate: before } };
  // No version comes twice: it is the time of setting, or one more than the version before.
  const next = Math.max(now, (before?.rateVersion ?? 0) + 1);
  const rateVersion = action === 'update' ? before!.rateVersion : next;
  const last = action === 'update' ? Math.max(now, kept!.expires - before!.keepAlive) : now;
  const entry = packed([rateVersion, rate.keepAlive, rate.perClient, ...rate.parameters]);
  return { answer: { changed: true, rate }, changed: { key, entry, expires: last + rate.keepAlive } };
}
