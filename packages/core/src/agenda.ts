/** An entry of an `Agenda`. */
export interface Appointment<T> {
  readonly at: number;
  readonly value: T;
}

interface Entry<T> extends Appointment<T> {
  /** Of equal moments the first added is first. */
  readonly order: number;
  /** Index in the heap; -1 once it was removed. */
  place: number;
}

/** Values by their moments, the earliest first. To add or remove one takes logarithmic time. */
export class Agenda<T> {
  #added = 0;
  /** A heap: the earliest at 0, the children of `i` at `2i + 1` and `2i + 2`. */
  readonly #heap: Entry<T>[] = [];

  get first(): Appointment<T> | undefined {
    return this.#heap[0];
  }

  add(at: number, value: T): Appointment<T> {
    this.#added += 1;
    const entry = { at, value, order: this.#added, place: 0 };
    this.#rise(entry, this.#heap.length);
    return entry;
  }

  /** Does nothing for an entry that was removed before. */
  remove(appointment: Appointment<T>): void {
    const heap = this.#heap;
    const removed = appointment as Entry<T>;
    const { place } = removed;
    if (place < 0) return;
    removed.place = -1;
    const last = heap.pop()!;
    if (last === removed) return;
    if (place > 0 && isBefore(last, heap[(place - 1) >> 1]!)) this.#rise(last, place);
    else this.#sink(last, place);
  }

  #rise(entry: Entry<T>, from: number): void {
    let at = from;
    for (; at > 0; at = (at - 1) >> 1) {
      const parent = this.#heap[(at - 1) >> 1]!;
      if (!isBefore(entry, parent)) break;
      this.#put(parent, at);
    }
    this.#put(entry, at);
  }

  #sink(entry: Entry<T>, from: number): void {
    const heap = this.#heap;
    let at = from;
    for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, entry)) break;
      this.#put(heap[child]!, at);
      at = child;
    }
    this.#put(entry, at);
  }

  #put(entry: Entry<T>, at: number): void {
    this.#heap[at] = entry;
    entry.place = at;
  }
}

const isBefore = (one: Entry<unknown>, other: Entry<unknown>): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
