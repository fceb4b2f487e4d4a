import { type Entry, expiryOf, isEnvelope } from '../../engine/entry.js';
import { FEWEST_NUMBERS, type MemoryRecords, MOST_NUMBERS } from './records.js';

const ELSEWHERE: readonly number[] = [];

/**
 * The entries of the slots. A state of a few numbers, which is what nearly all keys have, lies in the record of its slot; longer ones (logs,
 * windows of slots, buckets that begin with less than they hold) and what is more than a state are objects beside it.
 */
export class MemoryStates {
  readonly #records: MemoryRecords;
  readonly #objects = new Map<number, Entry>();

  constructor(records: MemoryRecords) {
    this.#records = records;
  }

  read(slot: number): Entry {
    return this.#records.state(slot) ?? this.#objects.get(slot)!;
  }

  /** The moment from which the entry is worth nothing. */
  expiry(slot: number): number {
    return this.#records.hasState(slot)
      ? this.#records.firstNumber(slot)
      : expiryOf(this.#objects.get(slot)!);
  }

  add(slot: number, entry: Entry): void {
    if (!isEnvelope(entry) && entry.length >= FEWEST_NUMBERS && entry.length <= MOST_NUMBERS) {
      this.#records.setState(slot, entry);
    } else {
      this.#records.setState(slot, ELSEWHERE);
      this.#objects.set(slot, entry);
    }
  }

  remove(slot: number): void {
    if (!this.#records.hasState(slot)) this.#objects.delete(slot);
  }

  /** Puts an entry in the place of the one that is there. */
  write(slot: number, entry: Entry): void {
    this.remove(slot);
    this.add(slot, entry);
  }
}
