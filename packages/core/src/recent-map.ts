/** Busy entries that one `set` may skip, so that it stays cheap if many are busy. */
const LOOKS = 8;

/** A Map that evicts the least recently used entries. It never evicts a busy entry, so it may exceed `max` for a while. */
export class RecentMap<K, V> {
  /** Least recently used first. */
  readonly #entries = new Map<K, V>();

  constructor(
    readonly max: number,
    readonly isBusy: (value: V) => boolean,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#moveToEnd(key, value);
    return value;
  }

  /** Adds an entry, and evicts old ones. */
  set(key: K, value: V): void {
    let looks = 0;
    for (const [oldest, old] of this.#entries) {
      if (this.#entries.size < this.max || looks === LOOKS) break;
      looks += 1;
      if (this.isBusy(old)) this.#moveToEnd(oldest, old);
      else this.#entries.delete(oldest);
    }
    this.#entries.set(key, value);
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  values(): V[] {
    return [...this.#entries.values()];
  }

  #moveToEnd(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
  }
}
