import { resized } from './resized.js';

/** Why an entry is kept, from what is forgotten first to what is forgotten last. */
export const Rank = {
  ordinary: 0,
  /** Its last call was denied, or somebody waits at it: forgetting it would let an attacker in again. */
  denied: 1,
  /** It is blocked or overridden: what operators say outlasts whatever clients can do. */
  ruled: 2,
} as const;
export type Rank = (typeof Rank)[keyof typeof Rank];

/** The first slots hold no entries. They are the ends of the lists, one for each rank, so that each list is a circle and never empty. */
export const FIRST_SLOT = 3;

/** Linked lists of numbered slots, one for each rank, each in the order in which the slots came into it. */
export class MemoryRanks {
  #ranks = new Uint8Array(FIRST_SLOT);
  #next = Uint32Array.of(0, 1, 2);
  #previous = Uint32Array.of(0, 1, 2);

  of(slot: number): Rank {
    return this.#ranks[slot] as Rank;
  }

  /** Puts a slot that is in no list behind all others of its rank. */
  append(slot: number, rank: Rank): void {
    const last = this.#previous[rank]!;
    this.#ranks[slot] = rank;
    this.#previous[slot] = last;
    this.#next[slot] = rank;
    this.#next[last] = slot;
    this.#previous[rank] = slot;
  }

  remove(slot: number): void {
    const next = this.#next[slot]!;
    const previous = this.#previous[slot]!;
    this.#next[previous] = next;
    this.#previous[next] = previous;
  }

  /** The oldest slot of the lowest rank that has one. There is at least one. */
  first(): number {
    let rank = 0;
    while (this.#next[rank]! < FIRST_SLOT) rank += 1;
    return this.#next[rank]!;
  }

  /** All slots: rank by rank, the oldest first. */
  *all(): Generator<number> {
    for (let rank = 0; rank < FIRST_SLOT; rank += 1) {
      for (let slot = this.#next[rank]!; slot >= FIRST_SLOT; slot = this.#next[slot]!) yield slot;
    }
  }

  resize(slots: number): void {
    this.#ranks = resized(this.#ranks, new Uint8Array(slots));
    this.#next = resized(this.#next, new Uint32Array(slots));
    this.#previous = resized(this.#previous, new Uint32Array(slots));
  }
}
