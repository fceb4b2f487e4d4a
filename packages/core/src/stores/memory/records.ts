/** Why an entry is kept, from what is forgotten first to what is forgotten last. */
export const Rank = {
  ordinary: 0,
  /** Its last call was denied, a call waits at it, or its permits are held: evicting it would admit calls above the limit. */
  denied: 1,
  /** It is blocked or overridden: what operators say outlasts whatever clients can do. */
  ruled: 2,
} as const;
export type Rank = (typeof Rank)[keyof typeof Rank];

/** No slot: the first ones, one for each rank, hold no keys; see `MemoryRanks`. */
export const NONE = 0;
export const FIRST_SLOT = Object.keys(Rank).length;

/** How many numbers a state has, at the least and at the most, that lies in a record. */
export const FEWEST_NUMBERS = 2;
export const MOST_NUMBERS = 4;

/** A record: four numbers of four bytes, then those of the state, of eight. Together, so that a key is one place in memory and not five. */
const FIELDS = 12;
const HASH = 0;
/** From the lowest bit: two of the rank, three of the length of the state, the others of the keyspace. */
const KIND = 1;
const NEXT = 2;
const PREVIOUS = 3;
const NUMBERS = 6;
const FIRST_NUMBER = 2;

/** What is known of each key but its text: a record for each slot, all in one buffer, so that there is nothing to collect. */
export class MemoryRecords {
  #fields = new Uint32Array(0);
  #numbers = new Float64Array(0);

  constructor() {
    this.resize(FIRST_SLOT);
  }

  get slots(): number {
    return this.#fields.length / FIELDS;
  }

  /** Makes room for so many slots, never fewer than there are. */
  resize(slots: number): void {
    const fields = new Uint32Array(slots * FIELDS);
    fields.set(this.#fields);
    this.#fields = fields;
    this.#numbers = new Float64Array(fields.buffer);
  }

  /** For a slot that gets a key. */
  begin(slot: number, hash: number, keyspace: number): void {
    this.#fields[slot * FIELDS + HASH] = hash;
    this.#fields[slot * FIELDS + KIND] = keyspace << 5;
  }

  hash(slot: number): number {
    return this.#fields[slot * FIELDS + HASH]!;
  }

  keyspace(slot: number): number {
    return this.#fields[slot * FIELDS + KIND]! >>> 5;
  }

  rank(slot: number): Rank {
    return (this.#fields[slot * FIELDS + KIND]! & 3) as Rank;
  }

  setRank(slot: number, rank: Rank): void {
    const at = slot * FIELDS + KIND;
    this.#fields[at] = (this.#fields[at]! & ~3) | rank;
  }

  next(slot: number): number {
    return this.#fields[slot * FIELDS + NEXT]!;
  }

  setNext(slot: number, next: number): void {
    this.#fields[slot * FIELDS + NEXT] = next;
  }

  previous(slot: number): number {
    return this.#fields[slot * FIELDS + PREVIOUS]!;
  }

  /** Makes one slot follow another. */
  link(slot: number, next: number): void {
    this.#fields[slot * FIELDS + NEXT] = next;
    this.#fields[next * FIELDS + PREVIOUS] = slot;
  }

  /** The first number of the state, if there is one here. */
  firstNumber(slot: number): number {
    return this.#numbers[slot * NUMBERS + FIRST_NUMBER]!;
  }

  /** The state, if it has a length that is not 0. */
  state(slot: number): readonly number[] | undefined {
    const numbers = this.#numbers;
    const at = slot * NUMBERS + FIRST_NUMBER;
    // Literals: three times as fast as any copying of a part of the array.
    switch ((this.#fields[slot * FIELDS + KIND]! >>> 2) & 7) {
      case 0:
        return undefined;
      case 2:
        return [numbers[at]!, numbers[at + 1]!];
      case 3:
        return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
      default:
        return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!];
    }
  }

  hasState(slot: number): boolean {
    return (this.#fields[slot * FIELDS + KIND]! & (7 << 2)) !== 0;
  }

  /** @param state of `FEWEST_NUMBERS` to `MOST_NUMBERS` numbers, or of none: then it is elsewhere */
  setState(slot: number, state: readonly number[]): void {
    const { length } = state;
    const kind = slot * FIELDS + KIND;
    this.#fields[kind] = (this.#fields[kind]! & ~(7 << 2)) | (length << 2);
    const at = slot * NUMBERS + FIRST_NUMBER;
    for (let i = 0; i < length; i += 1) this.#numbers[at + i] = state[i]!;
  }
}
