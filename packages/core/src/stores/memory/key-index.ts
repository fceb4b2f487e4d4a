import { randomFillSync } from 'node:crypto';
import { type MemoryRecords, NONE } from './records.js';

/** As many as a key has characters at the most; longer ones are our own. */
const POSITIONS = 128;

/**
 * Random odd factors, other ones in each process: nobody who does not know them can find keys that meet in one place
 * (multilinear hashing: Lemire and Kaser, "Strongly universal string hashing is fast").
 */
const FACTORS = randomFillSync(new Int32Array(POSITIONS + 1)).map((factor) => factor | 1);

export function hashOf(keyspace: number, id: string): number {
  let hash = Math.imul(FACTORS[POSITIONS]!, keyspace + 1);
  for (let i = 0; i < id.length; i += 1) {
    hash = (hash + Math.imul(FACTORS[i & (POSITIONS - 1)]!, id.charCodeAt(i))) | 0;
  }
  // The upper bits are the good ones: they are mixed into those that choose a place.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * Finds the slot of a key: a hash table with open addressing and linear probing, at most half full. Four bytes a place, and a look touches
 * fewer lines of memory than a Map of strings does, which at a million keys is what a look costs. Nor does it ever rest to
 * lay itself out anew because keys come and go.
 */
export class MemoryIndex {
  readonly #records: MemoryRecords;
  /** The ids of the slots; `undefined` of one that has no key. */
  readonly #ids: readonly (string | undefined)[];
  #places = new Uint32Array(2);
  #mask = 1;

  constructor(records: MemoryRecords, ids: readonly (string | undefined)[]) {
    this.#records = records;
    this.#ids = ids;
  }

  /** The slot; `NONE` of a key that is not here. */
  find(hash: number, keyspace: number, id: string): number {
    const places = this.#places;
    for (let place = hash & this.#mask; ; place = (place + 1) & this.#mask) {
      const slot = places[place]!;
      if (slot === NONE) return NONE;
      if (this.#records.hash(slot) !== hash || this.#ids[slot] !== id) continue;
      if (this.#records.keyspace(slot) === keyspace) return slot;
    }
  }

  add(slot: number): void {
    const places = this.#places;
    let place = this.#records.hash(slot) & this.#mask;
    while (places[place] !== NONE) place = (place + 1) & this.#mask;
    places[place] = slot;
  }

  /** Moves those behind it up, where that brings them nearer to where they belong: so there are never holes to step over. */
  remove(slot: number): void {
    const places = this.#places;
    const mask = this.#mask;
    let hole = this.#records.hash(slot) & mask;
    while (places[hole] !== slot) hole = (hole + 1) & mask;
    for (let place = (hole + 1) & mask; places[place] !== NONE; place = (place + 1) & mask) {
      const home = this.#records.hash(places[place]!) & mask;
      if (((place - home) & mask) < ((place - hole) & mask)) continue;
      places[hole] = places[place]!;
      hole = place;
    }
    places[hole] = NONE;
  }

  /** Makes room for up to so many slots, and finds all anew. */
  resize(slots: number): void {
    const length = 2 ** Math.ceil(Math.log2(2 * slots));
    this.#places = new Uint32Array(length);
    this.#mask = length - 1;
    for (let slot = 0; slot < this.#ids.length; slot += 1) if (this.#ids[slot] !== undefined) this.add(slot);
  }
}
