import { type Entry, expiryOf, isEnvelope } from '../decisions/entry.js';
import { resized } from './resized.js';

/** The most numbers of a state that lies among the others. Longer are logs, slots, and buckets after a penalty. */
const WIDEST = 5;

/**
 * The entries of numbered slots. A state of a few numbers, which is what nearly all keys have, lies in one flat array, eight bytes a
 * number; what is more than that is an object beside it.
 */
export class MemoryStates {
  /** Numbers that each slot has room for: as many as the longest flat state so far has. */
  #width = 2;
  #numbers = new Float64Array(0);
  /** How many of them are used; 0: the entry is an object. */
  #lengths = new Uint8Array(0);
  readonly #objects = new Map<number, Entry>();

  read(slot: number): Entry {
    const numbers = this.#numbers;
    const at = slot * this.#width;
    // Literals: three times as fast as any copying of a part of the array.
    switch (this.#lengths[slot]) {
      case 0:
        return this.#objects.get(slot)!;
      case 2:
        return [numbers[at]!, numbers[at + 1]!];
      case 3:
        return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
      case 4:
        return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!];
      default:
        return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!, numbers[at + 4]!];
    }
  }

  /** The moment from which the entry is worth nothing. */
  expiry(slot: number): number {
    return this.#lengths[slot] === 0
      ? expiryOf(this.#objects.get(slot)!)
      : this.#numbers[slot * this.#width]!;
  }

  add(slot: number, entry: Entry): void {
    if (isEnvelope(entry) || entry.length > WIDEST) {
      this.#lengths[slot] = 0;
      this.#objects.set(slot, entry);
      return;
    }
    const { length } = entry;
    if (length > this.#width) this.#widen(length);
    const at = slot * this.#width;
    for (let i = 0; i < length; i += 1) this.#numbers[at + i] = entry[i]!;
    this.#lengths[slot] = length;
  }

  remove(slot: number): void {
    if (this.#lengths[slot] === 0) this.#objects.delete(slot);
  }

  /** What takes the place of the entry that is there. */
  write(slot: number, entry: Entry): void {
    this.remove(slot);
    this.add(slot, entry);
  }

  resize(slots: number): void {
    this.#numbers = resized(this.#numbers, new Float64Array(slots * this.#width));
    this.#lengths = resized(this.#lengths, new Uint8Array(slots));
  }

  #widen(width: number): void {
    const narrow = this.#numbers;
    this.#numbers = new Float64Array(this.#lengths.length * width);
    for (let from = 0, to = 0; from < narrow.length; from += this.#width, to += width) {
      this.#numbers.set(narrow.subarray(from, from + this.#width), to);
    }
    this.#width = width;
  }
}
