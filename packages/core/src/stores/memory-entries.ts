import { type Entry, isEnvelope } from '../decisions/entry.js';
import { MemoryKeyspaces } from './memory-keyspaces.js';
import { FIRST_SLOT, MemoryRanks, Rank } from './memory-ranks.js';
import { MemoryStates } from './memory-states.js';
import { resized } from './resized.js';

/** Where to find an entry: see `Part`. */
export interface Place {
  readonly key: string;
  readonly keyspace?: string | undefined;
  readonly id?: string | undefined;
}

/** Room for keys to begin with. */
const LEAST = 16;
/** Tables that are larger than what they hold by this factor are laid out anew, if that is so little that it takes no more than a few ms. */
const ROOMY = 8;
const FEW = 5_000;

export function rankOf(entry: Entry, now: number, denied: boolean): Rank {
  if (isEnvelope(entry)) {
    if (entry.blockedUntil > now || entry.overrideUntil > now) return Rank.ruled;
    if (entry.queue.length > 0) return Rank.denied;
  }
  return denied ? Rank.denied : Rank.ordinary;
}

/**
 * What a memory store remembers, at most `maxKeys` keys, each in a numbered slot. When there is no room, the oldest key of the lowest rank
 * goes, in constant time. Tables of numbers and not objects, so that a million keys are a few objects to the garbage collector, and
 * take 70 to 80 bytes each beside their names.
 */
export class MemoryEntries {
  readonly #maxKeys: number;
  readonly #keyspaces = new MemoryKeyspaces();
  readonly #ranks = new MemoryRanks();
  readonly #states = new MemoryStates();
  /** Of each slot in use the id of its key. */
  readonly #ids: (string | undefined)[] = [];
  /** Of each slot in use the number of its keyspace; of one that is free the next free one, 0 if there is none. */
  #owners = new Uint32Array(0);
  #free = 0;
  /** The first slot that has never been in use. */
  #unused = FIRST_SLOT;
  #sweptTo = FIRST_SLOT;
  size = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** The slot of a key that is remembered. */
  find({ key, keyspace = '', id = key }: Place): number | undefined {
    return this.#keyspaces.find(keyspace, id);
  }

  read(slot: number): Entry {
    return this.#states.read(slot);
  }

  rank(slot: number): Rank {
    return this.#ranks.of(slot);
  }

  /** Remembers a key that is not remembered yet. */
  add({ key, keyspace = '', id = key }: Place, entry: Entry, rank: Rank): void {
    if (this.size >= this.#maxKeys) this.remove(this.#ranks.first());
    const slot = this.#take();
    const name = detached(id);
    this.#ids[slot] = name;
    this.#owners[slot] = this.#keyspaces.add(keyspace, name, slot);
    this.#ranks.append(slot, rank);
    this.#states.add(slot, entry);
    this.size += 1;
  }

  /** A key keeps its place among those of its rank, as long as it keeps its rank. */
  write(slot: number, entry: Entry, rank: Rank): void {
    this.#states.write(slot, entry);
    if (this.#ranks.of(slot) === rank) return;
    this.#ranks.remove(slot);
    this.#ranks.append(slot, rank);
  }

  remove(slot: number): void {
    this.#keyspaces.remove(this.#owners[slot]!, this.#ids[slot]!);
    this.#ranks.remove(slot);
    this.#states.remove(slot);
    this.#ids[slot] = undefined;
    this.#owners[slot] = this.#free;
    this.#free = slot;
    this.size -= 1;
  }

  /** Looks at the next so many slots, and forgets the keys whose entries are worth nothing any more. */
  sweep(now: number, slots: number): void {
    const end = Math.min(this.#unused, this.#sweptTo + slots);
    for (let slot = this.#sweptTo; slot < end; slot += 1) {
      if (this.#ids[slot] !== undefined && this.#states.expiry(slot) <= now) this.remove(slot);
    }
    this.#sweptTo = end < this.#unused ? end : FIRST_SLOT;
  }

  /** Is it worth a copy that takes less memory, after a flood? */
  get roomy(): boolean {
    return this.size <= FEW && Math.max(LEAST, this.size) * ROOMY < this.#owners.length;
  }

  copy(): MemoryEntries {
    const copy = new MemoryEntries(this.#maxKeys);
    for (const slot of this.#ranks.all()) {
      const key = this.#ids[slot]!;
      const keyspace = this.#keyspaces.at(this.#owners[slot]!).name;
      copy.add({ key, keyspace }, this.#states.read(slot), this.#ranks.of(slot));
    }
    return copy;
  }

  #take(): number {
    const slot = this.#free;
    if (slot > 0) {
      this.#free = this.#owners[slot]!;
      return slot;
    }
    if (this.#unused >= this.#owners.length) {
      this.#resize(FIRST_SLOT + Math.min(this.#maxKeys, Math.max(LEAST, 2 * this.size)));
    }
    this.#unused += 1;
    return this.#unused - 1;
  }

  #resize(slots: number): void {
    this.#ids.length = slots;
    this.#owners = resized(this.#owners, new Uint32Array(slots));
    this.#ranks.resize(slots);
    this.#states.resize(slots);
  }
}

/**
 * A copy that stands by itself. A key put together by concatenation or cut out of a longer text would keep its pieces or the
 * whole text alive for as long as it is remembered. Storage keys are ASCII.
 */
const detached = (key: string): string => Buffer.from(key, 'latin1').toString('latin1');
