import { detach } from '@sluice/core/internal';
import { CAPACITY, type Summary } from './summary.js';

interface Entry {
  key: string;
  count: number;
  error: number;
  policy: string | undefined;
  /** Its index in the heap. */
  at: number;
}

/**
 * Space-Saving (Metwally, Agrawal, El Abbadi 2005): the heaviest keys of a stream, in the space of `capacity` keys. A new key takes the
 * place of the lightest one, and may have that one's count as its error: at most total / capacity.
 */
export class SpaceSaving {
  #total = 0;
  readonly #entries = new Map<string, Entry>();
  /** The lightest entry first; the children of `i` are `2i + 1` and `2i + 2`. */
  readonly #heap: Entry[] = [];

  constructor(readonly capacity = CAPACITY) {}

  /** A view: `add` changes it. */
  get summary(): Summary {
    const unlisted = this.#heap.length < this.capacity ? 0 : this.#heap[0]!.count;
    return { entries: this.#heap, total: this.#total, unlisted };
  }

  /**
   * @param key may be a view of a longer string: it is copied if it is kept
   * @param policy that denied it, if there are several: the entry has the latest
   */
  add(key: string, weight: number, policy?: string): void {
    this.#total += weight;
    let entry = this.#entries.get(key);
    if (entry !== undefined) {
      entry.count += weight;
      entry.policy = policy;
    } else if (this.#heap.length < this.capacity) {
      entry = { key: detach(key), count: weight, error: 0, policy, at: this.#heap.length };
      this.#heap.push(entry);
      this.#entries.set(entry.key, entry);
      this.#rise(entry);
      return;
    } else {
      entry = this.#heap[0]!;
      this.#entries.delete(entry.key);
      entry.key = detach(key);
      entry.error = entry.count;
      entry.count += weight;
      entry.policy = policy;
      this.#entries.set(entry.key, entry);
    }
    this.#sink(entry);
  }

  #rise(entry: Entry): void {
    const heap = this.#heap;
    let { at } = entry;
    while (at > 0) {
      const parent = heap[(at - 1) >> 1]!;
      if (parent.count <= entry.count) break;
      heap[at] = parent;
      [parent.at, at] = [at, parent.at];
    }
    heap[at] = entry;
    entry.at = at;
  }

  #sink(entry: Entry): void {
    const heap = this.#heap;
    const { count } = entry;
    let { at } = entry;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.count < heap[child]!.count) child += 1;
      const lightest = heap[child]!;
      if (lightest.count >= count) break;
      heap[at] = lightest;
      lightest.at = at;
      at = child;
    }
    heap[at] = entry;
    entry.at = at;
  }
}
