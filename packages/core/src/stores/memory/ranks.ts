import { type Entry, isEnvelope } from '../../engine/entry.js';
import { FIRST_SLOT, type MemoryRecords, Rank } from './records.js';

export function rankOf(entry: Entry, now: number, denied: boolean): Rank {
  if (isEnvelope(entry)) {
    if (entry.blockedUntil > now || entry.overrideUntil > now) return Rank.ruled;
    if (entry.queue.length > 0) return Rank.denied;
  }
  return denied ? Rank.denied : Rank.ordinary;
}

/**
 * A list for each rank, in the order in which the slots came into it. The first slots are the ends of these lists, so that each is a circle
 * and never empty.
 */
export class MemoryRanks {
  readonly #records: MemoryRecords;

  constructor(records: MemoryRecords) {
    this.#records = records;
    for (let end = 0; end < FIRST_SLOT; end += 1) records.link(end, end);
  }

  /** Puts a slot that is in no list behind all others of its rank. */
  append(slot: number, rank: Rank): void {
    const records = this.#records;
    records.setRank(slot, rank);
    records.link(records.previous(rank), slot);
    records.link(slot, rank);
  }

  remove(slot: number): void {
    this.#records.link(this.#records.previous(slot), this.#records.next(slot));
  }

  /** The oldest slot of the lowest rank that has one. There is at least one. */
  first(): number {
    let end = 0;
    while (this.#records.next(end) < FIRST_SLOT) end += 1;
    return this.#records.next(end);
  }

  /** All slots: rank by rank, the oldest first. */
  *all(): Generator<number> {
    for (let end = 0; end < FIRST_SLOT; end += 1) {
      for (let slot = this.#records.next(end); slot !== end; slot = this.#records.next(slot)) yield slot;
    }
  }
}
