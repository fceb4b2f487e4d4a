// What core and meters load for the options `usage`, `notify` and `denials`, and what our own tools share. Not public API: it may change with any release.
import type { StoreUsage as Counts } from '@sluice/core';
import type { StoreWatching } from '@sluice/core/internal';
import { DenialFeed } from './denials/denial-feed.js';
import { observe } from './observe.js';
import { readNotify } from './thresholds/notify-options.js';
import { CallCounter } from './usage/call-counter.js';
import { StoreUsage } from './usage/store-usage.js';
import { checkUsage } from './usage/usage-options.js';

export { observe, readNotify };

export const openUsage: StoreWatching['openUsage'] = (where, option, board) => {
  const { keys, keyUse } = checkUsage(where, option);
  return new StoreUsage(keys, board, keyUse);
};

/** Counts the calls of a limiter that `@sluice/meter` decides. */
export const callCounter = (usage: Counts, limiter: string): CallCounter =>
  new CallCounter(usage as StoreUsage, limiter);

export const sendDenials: StoreWatching['sendDenials'] = (source, wasUsed) => DenialFeed.of(source, wasUsed);

export { fields, number, optional, readText, text, textOrNumber, whole } from './checked-text.js';
export { ownerOfCounted } from './definitions/read-definitions.js';
export { RECENT_SLOTS, SLOT_MS } from './usage/result-slots.js';
export { SpaceSaving } from './usage/space-saving.js';
