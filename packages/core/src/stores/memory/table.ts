import { copyOfAscii } from '#platform';
import { CELL_NUMBERS, Cell, type SpeedFacet } from '../../algorithms/algorithm.js';
import type { KeyCall } from '../../call/call.js';
import { type Entry, expiryOf, isEnvelope } from '../../engine/entry.js';
import { FIRST_SLOT, NONE, Rank, Records } from './records.js';

/** Slots of the smallest table. */
const LEAST = 16;
/** Slots per key from which a table is copied to a smaller one. */
const ROOMY = 8;
/** Most keys to copy: that takes a few ms. */
const FEW = 5_000;

type Step = NonNullable<SpeedFacet['step']>;

/** The keys of one limit. */
interface Keyspace {
  readonly prefix: string;
  readonly number: number;
  keys: number;
}

/**
 * The entries of at most `maxKeys` keys, each in a numbered slot. When it is full, a new key evicts the oldest key of the lowest rank, in
 * constant time. In a full table a key takes 63 bytes beside its text, which is the only object of the key.
 */
export class Table {
  readonly #records = new Records();
  /** Entries that do not fit into a record: logs, windows of slots, and entries with more than a state. */
  readonly #objects = new Map<number, Entry>();
  readonly #keyspaces = new Map<string, Keyspace>();
  readonly #numbered: Keyspace[] = [];
  readonly #freeNumbers: number[] = [];
  readonly #cell = new Cell();
  /** The last search: the next call often has the same key, and most calls have the same limit. */
  #lastKeyspace: Keyspace | undefined;
  #lastSlot = NONE;
  /** The first free slot that had a key; `next` of each is the next free one. */
  #free = NONE;
  /** The first slot that never had a key. */
  #unused = FIRST_SLOT;
  #sweptTo = FIRST_SLOT;
  #size = 0;

  constructor(private readonly maxKeys: number) {}

  get size(): number {
    return this.#size;
  }

  /** The slot of a key; `NONE` if it has none. */
  find(prefix: string, key: string): number {
    let keyspace = this.#lastKeyspace;
    if (keyspace?.prefix !== prefix) {
      keyspace = this.#keyspaces.get(prefix);
      if (keyspace === undefined) return NONE;
      this.#lastKeyspace = keyspace;
    }
    const { number } = keyspace;
    const records = this.#records;
    const last = this.#lastSlot;
    if (records.keys[last] === key && records.keyspace(last) === number) return last;
    const slot = records.find(number, key);
    this.#lastSlot = slot;
    return slot;
  }

  read(slot: number): Entry {
    const cell = this.#open(slot);
    return cell.length > 0 ? cell.read() : this.#objects.get(slot)!;
  }

  rank(slot: number): Rank {
    return this.#records.rank(slot);
  }

  /** Decides a `consume` on the state in its record. @returns undefined, with nothing changed, if it cannot */
  step(step: Step, { limit, key, cost }: KeyCall, now: number): Cell | undefined {
    const { rule, prefix } = limit;
    const slot = this.find(prefix, key);
    const cell = this.#open(slot);
    const { length } = cell;
    if (length === 0) return undefined;
    const parameters = rule.parametersAt === undefined ? rule.parameters : rule.parametersAt(now);
    if (!step(parameters, cell, now, cost)) return undefined;
    if (cell.length !== length) this.#records.setLength(slot, cell.length);
    this.#records.setRank(slot, cell.wait === 0 ? Rank.ordinary : Rank.denied);
    return cell;
  }

  /** Adds a key that has no slot yet. */
  add(prefix: string, key: string, entry: Entry, rank: Rank): void {
    if (this.#size >= this.maxKeys) this.remove(this.#oldest());
    const keyspace = this.#keyspaces.get(prefix) ?? this.#newKeyspace(prefix);
    keyspace.keys += 1;
    const slot = this.#newSlot();
    this.#records.add(slot, keyspace.number, detached(key), rank);
    this.write(slot, entry, rank);
    this.#size += 1;
  }

  write(slot: number, entry: Entry, rank: Rank): void {
    if (!isEnvelope(entry) && entry.length >= 2 && entry.length <= CELL_NUMBERS) {
      this.#open(slot).write(entry);
      this.#records.setLength(slot, entry.length);
      this.#objects.delete(slot);
    } else {
      this.#records.setLength(slot, 0);
      this.#objects.set(slot, entry);
    }
    this.#records.setRank(slot, rank);
  }

  remove(slot: number): void {
    const keyspace = this.#numbered[this.#records.keyspace(slot)]!;
    keyspace.keys -= 1;
    if (keyspace.keys === 0) {
      this.#keyspaces.delete(keyspace.prefix);
      this.#freeNumbers.push(keyspace.number);
      this.#lastKeyspace = undefined;
    }
    this.#records.remove(slot, this.#free);
    this.#objects.delete(slot);
    this.#free = slot;
    this.#size -= 1;
  }

  /** Removes expired keys from the next slots. */
  sweep(now: number, slots: number): void {
    const end = Math.min(this.#unused, this.#sweptTo + slots);
    for (let slot = this.#sweptTo; slot < end; slot += 1) {
      if (this.#records.keys[slot] === undefined) continue;
      const { length, numbers, at } = this.#open(slot);
      const expiry = length > 0 ? numbers[at]! : expiryOf(this.#objects.get(slot)!);
      if (expiry <= now) this.remove(slot);
    }
    this.#sweptTo = end < this.#unused ? end : FIRST_SLOT;
  }

  /** Would a copy need much less memory, and little time? That is so after a flood. */
  get roomy(): boolean {
    return this.#size <= FEW && Math.max(LEAST, this.#size) * ROOMY < this.#records.keys.length;
  }

  copy(): Table {
    const copy = new Table(this.maxKeys);
    for (const slot of this.#records.all()) {
      const { prefix } = this.#numbered[this.#records.keyspace(slot)]!;
      copy.add(prefix, this.#records.keys[slot]!, this.read(slot), this.rank(slot));
    }
    return copy;
  }

  #open(slot: number): Cell {
    this.#records.open(slot, this.#cell);
    return this.#cell;
  }

  /** The oldest slot of the lowest rank that has one. There is at least one. */
  #oldest(): number {
    let end = 0;
    while (this.#records.next(end) < FIRST_SLOT) end += 1;
    return this.#records.next(end);
  }

  /** Numbers are used again, so there are never more of them than keys. */
  #newKeyspace(prefix: string): Keyspace {
    const number = this.#freeNumbers.pop() ?? this.#numbered.length;
    const keyspace = { prefix: detached(prefix), number, keys: 0 };
    this.#keyspaces.set(keyspace.prefix, keyspace);
    this.#numbered[number] = keyspace;
    return keyspace;
  }

  #newSlot(): number {
    const slot = this.#free;
    if (slot !== NONE) {
      this.#free = this.#records.next(slot);
      return slot;
    }
    if (this.#unused >= this.#records.keys.length) {
      this.#records.resize(FIRST_SLOT + Math.min(this.maxKeys, Math.max(LEAST, 2 * this.#size)));
    }
    this.#unused += 1;
    return this.#unused - 1;
  }
}

/** V8 copies shorter texts, and only refers to parts of longer ones. */
const SHORTEST_REFERENCE = 13;

/**
 * A copy that shares no memory with other strings. A key built by concatenation, or cut out of a longer text, would keep its pieces or
 * the whole text alive while it is stored. Storage keys are ASCII.
 */
const detached = (key: string): string => (key.length < SHORTEST_REFERENCE ? key : copyOfAscii(key));
