import { type Entry, isEnvelope } from '../../engine/entry.js';
import { Rank } from './records.js';

/** @param escalates a client caused the block: it must not push out blocks of operators */
export function rankOf(entry: Entry, now: number, denied: boolean, escalates: boolean): Rank {
  if (isEnvelope(entry)) {
    if ((entry.blockedUntil > now && !escalates) || entry.overrideUntil > now) return Rank.pinned;
    if (entry.queue.length > 0) return Rank.denied;
  }
  return denied ? Rank.denied : Rank.ordinary;
}
