import type { Entry } from '../../engine/entry.js';
import { hashOf, MemoryIndex } from './key-index.js';
import { detached } from './key-text.js';
import { MemoryKeyspaces } from './keyspaces.js';
import { MemoryRanks } from './ranks.js';
import { FIRST_SLOT, MemoryRecords, NONE, type Rank } from './records.js';
import { MemoryStates } from './states.js';

/** Where an entry is: the prefix of its limit and the key within that. */
export interface Place {
  readonly prefix: string;
  readonly key: string;
}

/** Keys that there is room for at least. */
const LEAST = 16;
/** Tables that are larger than what they hold by this factor are worth a copy, if that is so little that it takes no more than a few ms. */
const ROOMY = 8;
const FEW = 5_000;

/**
 * What a memory store remembers, at most `maxKeys` keys, each in a numbered slot. When there is no room, the oldest key of the lowest rank
 * goes, in constant time. A key takes 65 to 73 bytes beside its text in a store that is full, and that text is the only object that there is
 * for it.
 */
export class MemoryEntries {
  readonly #maxKeys: number;
  readonly #records = new MemoryRecords();
  readonly #ids: (string | undefined)[] = [];
  readonly #index = new MemoryIndex(this.#records, this.#ids);
  readonly #keyspaces = new MemoryKeyspaces();
  readonly #ranks = new MemoryRanks(this.#records);
  readonly #states = new MemoryStates(this.#records);
  /** Slots that have had a key and have none now: each names the next one. */
  #free = NONE;
  /** The first slot that never had a key. */
  #unused = FIRST_SLOT;
  #sweptTo = FIRST_SLOT;
  #size = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#size;
  }

  /** The slot of a key; `NONE` of one that is not remembered. */
  find({ prefix, key }: Place): number {
    const number = this.#keyspaces.find(prefix);
    return number === undefined ? NONE : this.#index.find(hashOf(number, key), number, key);
  }

  read(slot: number): Entry {
    return this.#states.read(slot);
  }

  rank(slot: number): Rank {
    return this.#records.rank(slot);
  }

  /** Remembers a key that is not remembered yet. */
  add({ prefix, key }: Place, entry: Entry, rank: Rank): void {
    if (this.#size >= this.#maxKeys) this.remove(this.#ranks.first());
    const number = this.#keyspaces.enter(prefix);
    const slot = this.#take();
    this.#ids[slot] = detached(key);
    this.#records.begin(slot, hashOf(number, key), number);
    this.#index.add(slot);
    this.#ranks.append(slot, rank);
    this.#states.add(slot, entry);
    this.#size += 1;
  }

  /** A key that keeps its rank keeps its place in it, too. */
  write(slot: number, entry: Entry, rank: Rank): void {
    this.#states.write(slot, entry);
    if (this.#records.rank(slot) === rank) return;
    this.#ranks.remove(slot);
    this.#ranks.append(slot, rank);
  }

  remove(slot: number): void {
    this.#index.remove(slot);
    this.#keyspaces.leave(this.#records.keyspace(slot));
    this.#ranks.remove(slot);
    this.#states.remove(slot);
    this.#ids[slot] = undefined;
    this.#records.setNext(slot, this.#free);
    this.#free = slot;
    this.#size -= 1;
  }

  /** Looks at the next so many slots, and forgets the keys whose entries are worth nothing any more. */
  sweep(now: number, slots: number): void {
    const end = Math.min(this.#unused, this.#sweptTo + slots);
    for (let slot = this.#sweptTo; slot < end; slot += 1) {
      if (this.#ids[slot] !== undefined && this.#states.expiry(slot) <= now) this.remove(slot);
    }
    this.#sweptTo = end < this.#unused ? end : FIRST_SLOT;
  }

  /** Would a copy take much less memory, and little time? So it is when a flood is over. */
  get roomy(): boolean {
    return this.#size <= FEW && Math.max(LEAST, this.#size) * ROOMY < this.#records.slots;
  }

  copy(): MemoryEntries {
    const copy = new MemoryEntries(this.#maxKeys);
    for (const slot of this.#ranks.all()) {
      const prefix = this.#keyspaces.name(this.#records.keyspace(slot));
      copy.add({ prefix, key: this.#ids[slot]! }, this.#states.read(slot), this.#records.rank(slot));
    }
    return copy;
  }

  #take(): number {
    const slot = this.#free;
    if (slot !== NONE) {
      this.#free = this.#records.next(slot);
      return slot;
    }
    if (this.#unused >= this.#records.slots) {
      const slots = FIRST_SLOT + Math.min(this.#maxKeys, Math.max(LEAST, 2 * this.#size));
      this.#ids.length = slots;
      this.#records.resize(slots);
      this.#index.resize(slots);
    }
    this.#unused += 1;
    return this.#unused - 1;
  }
}
