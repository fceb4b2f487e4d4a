import { type Entry, isEnvelope } from '../../engine/entry.js';
import { Rank } from './records.js';

/** @param byClient a client caused the block: it must not push out blocks of operators */
export function rankOf(entry: Entry | undefined, now: number, denied: boolean, byClient: boolean): Rank {
  if (entry !== undefined && isEnvelope(entry)) {
    if ((entry.blockedUntil > now && !byClient) || entry.overrideUntil > now) return Rank.pinned;
    if (entry.queue.length > 0) return Rank.denied;
  }
  return denied ? Rank.denied : Rank.ordinary;
}
