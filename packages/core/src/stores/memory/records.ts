import { randomFillSync } from '#platform';
import { CELL_NUMBERS, type Cell } from '../../algorithms/algorithm.js';
import { charCodeAt } from '../../runtime.js';

/** Why an entry is kept. The lowest rank is evicted first. */
export const Rank = {
  ordinary: 0,
  /** Its last call was denied, a call waits at it, or its permits are held: evicting it would admit calls above the limit. */
  denied: 1,
  /** It is blocked or overridden by an operator: no client can evict it. */
  pinned: 2,
} as const;
export type Rank = (typeof Rank)[keyof typeof Rank];

/** No slot. The first slots have no keys: each is both ends of the list of a rank, so no list is ever empty. */
export const NONE = 0;
export const FIRST_SLOT = Object.keys(Rank).length;

/** A record: four numbers of four bytes, then the numbers of the state, of eight bytes. A key is one place in memory, not five. */
const FIELDS = 4 + 2 * CELL_NUMBERS;
const HASH = 0;
/** From the lowest bit: two of the rank, three of the length of the state, the others of the keyspace. */
const KIND = 1;
const NEXT = 2;
const PREVIOUS = 3;
const NUMBERS = FIELDS / 2;
const FIRST_NUMBER = 2;
const LENGTH = 7 << 2;

/** Places per slot: fewer need less memory, more make searches shorter. */
const PLACES = 1.7;

/** The most characters of a key; longer ones are digests. */
const POSITIONS = 128;

/**
 * Random odd factors, different in each process: without them nobody can find keys with the same place (multilinear hashing: Lemire and
 * Kaser, "Strongly universal string hashing is fast"). Drawn for the first key that is added, because edge runtimes have no random
 * numbers while a module loads; before it, no search finds anything.
 */
const FACTORS = new Int32Array(POSITIONS + 1);

function hashOf(keyspace: number, key: string): number {
  let hash = Math.imul(FACTORS[POSITIONS]!, keyspace + 1);
  for (let i = 0; i < key.length; i += 1) {
    hash = (hash + Math.imul(FACTORS[i & (POSITIONS - 1)]!, charCodeAt(key, i))) | 0;
  }
  // The upper bits are the best: mix them into the bits that choose a place.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * All data of each key but its text: one record per slot, in one buffer, so there is no garbage to collect. A hash table with open addressing
 * and linear probing finds the slots: a search touches fewer cache lines than in a Map of strings, and at a million keys they are the cost.
 */
export class Records {
  /** The keys of the slots; `undefined` of a slot that has none. */
  readonly keys: (string | undefined)[] = [];
  #fields = new Uint32Array(0);
  #numbers = new Float64Array(0);
  #places = new Uint32Array(0);

  constructor() {
    this.resize(FIRST_SLOT);
    for (let end = 0; end < FIRST_SLOT; end += 1) this.#link(end, end);
  }

  /** Changes the number of slots, never to fewer. */
  resize(slots: number): void {
    this.keys.length = slots;
    const fields = new Uint32Array(slots * FIELDS);
    fields.set(this.#fields);
    this.#fields = fields;
    this.#numbers = new Float64Array(fields.buffer);
    this.#places = new Uint32Array(Math.ceil(slots * PLACES));
    for (let slot = FIRST_SLOT; slot < slots; slot += 1) if (this.keys[slot] !== undefined) this.#enter(slot);
  }

  /** The slot of a key; `NONE` if it has none. */
  find(keyspace: number, key: string): number {
    const hash = hashOf(keyspace, key);
    for (let place = this.#home(hash); ; place = this.#after(place)) {
      const slot = this.#places[place]!;
      if (slot === NONE) return NONE;
      if (this.#hash(slot) === hash && this.keys[slot] === key && this.keyspace(slot) === keyspace)
        return slot;
    }
  }

  /** Assigns a free slot to a new key. */
  add(slot: number, keyspace: number, key: string, rank: Rank): void {
    if (FACTORS[0] === 0) FACTORS.set(randomFillSync(FACTORS).map((factor) => factor | 1));
    this.keys[slot] = key;
    this.#fields[slot * FIELDS + HASH] = hashOf(keyspace, key);
    this.#fields[slot * FIELDS + KIND] = keyspace << 5;
    this.#enter(slot);
    this.#append(slot, rank);
  }

  /** @param next result of `next` for this slot from now on */
  remove(slot: number, next: number): void {
    this.keys[slot] = undefined;
    this.#leave(slot);
    this.#unlink(slot);
    this.#fields[slot * FIELDS + NEXT] = next;
  }

  keyspace(slot: number): number {
    return this.#fields[slot * FIELDS + KIND]! >>> 5;
  }

  rank(slot: number): Rank {
    return (this.#fields[slot * FIELDS + KIND]! & 3) as Rank;
  }

  /** A slot with a new rank becomes the newest of that rank; otherwise it keeps its place. */
  setRank(slot: number, rank: Rank): void {
    if (this.rank(slot) === rank) return;
    this.#unlink(slot);
    this.#append(slot, rank);
  }

  /** The next slot of its rank. */
  next(slot: number): number {
    return this.#fields[slot * FIELDS + NEXT]!;
  }

  /** All slots with keys, by rank, oldest first. */
  *all(): Generator<number, undefined> {
    for (let end = 0; end < FIRST_SLOT; end += 1) {
      for (let slot = this.next(end); slot !== end; slot = this.next(slot)) yield slot;
    }
  }

  /** Points the cell at the state of the slot: no copy. */
  open(slot: number, cell: Cell): void {
    cell.numbers = this.#numbers;
    cell.at = slot * NUMBERS + FIRST_NUMBER;
    cell.length = (this.#fields[slot * FIELDS + KIND]! & LENGTH) >>> 2;
  }

  /** @param length 0 if the state is not in the record */
  setLength(slot: number, length: number): void {
    const at = slot * FIELDS + KIND;
    this.#fields[at] = (this.#fields[at]! & ~LENGTH) | (length << 2);
  }

  #hash(slot: number): number {
    return this.#fields[slot * FIELDS + HASH]!;
  }

  #append(slot: number, rank: Rank): void {
    const at = slot * FIELDS + KIND;
    this.#fields[at] = (this.#fields[at]! & ~3) | rank;
    this.#link(this.#fields[rank * FIELDS + PREVIOUS]!, slot);
    this.#link(slot, rank);
  }

  #unlink(slot: number): void {
    this.#link(this.#fields[slot * FIELDS + PREVIOUS]!, this.next(slot));
  }

  #link(slot: number, next: number): void {
    this.#fields[slot * FIELDS + NEXT] = next;
    this.#fields[next * FIELDS + PREVIOUS] = slot;
  }

  /** The place where a search for the hash begins. */
  #home(hash: number): number {
    return Math.floor((hash * this.#places.length) / 2 ** 32);
  }

  #after(place: number): number {
    return place + 1 === this.#places.length ? 0 : place + 1;
  }

  #enter(slot: number): void {
    let place = this.#home(this.#hash(slot));
    while (this.#places[place] !== NONE) place = this.#after(place);
    this.#places[place] = slot;
  }

  /** Moves later slots up if that brings them nearer to their homes, so that searches never skip holes. */
  #leave(slot: number): void {
    const places = this.#places;
    const distance = (from: number, to: number) => (to < from ? to - from + places.length : to - from);
    let hole = this.#home(this.#hash(slot));
    while (places[hole] !== slot) hole = this.#after(hole);
    for (let place = this.#after(hole); places[place] !== NONE; place = this.#after(place)) {
      const home = this.#home(this.#hash(places[place]!));
      if (distance(home, place) < distance(hole, place)) continue;
      places[hole] = places[place]!;
      hole = place;
    }
    places[hole] = NONE;
  }
}
