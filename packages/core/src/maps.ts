/** Busy entries that one `set` may skip, so that it stays cheap if many are busy. */
const LOOKS = 8;
/**
 * A full map evicts this share of `max` at once. V8 passes over thousands of places of evicted entries to reach the oldest one: done for
 * each eviction, that takes 5 µs with 10,000 entries.
 */
const BATCH = 1 / 512;

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
    if (this.#entries.size >= this.max) this.#evict();
    this.#entries.set(key, value);
  }

  #evict(): void {
    const batch = Math.max(1, Math.floor(this.max * BATCH));
    const kept = this.max - batch;
    let [evicted, busy] = [0, 0];
    for (const [oldest, old] of this.#entries) {
      if (this.#entries.size <= kept || evicted === batch + LOOKS || busy === LOOKS) break;
      if (this.isBusy(old)) {
        this.#moveToEnd(oldest, old);
        busy += 1;
      } else {
        this.#entries.delete(oldest);
        evicted += 1;
      }
    }
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

interface Cache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The value of a key in a `Map` or `WeakMap`, created at its first use. */
export function getOrCreate<K, V>(cache: Cache<K, V>, key: K, create: () => V): V {
  let value = cache.get(key);
  if (value === undefined) {
    value = create();
    cache.set(key, value);
  }
  return value;
}

/**
 * A value that all copies of this package in a process share, because a program may load it twice: as ESM and as CommonJS.
 * @param name unique among the packages of Sluice
 * @param make creates the value for the first copy
 */
export function sharedByCopies<T>(name: string, make: () => T): T {
  const slot = Symbol.for(`sluice.${name}`);
  const holder = globalThis as { [slot: symbol]: T | undefined };
  holder[slot] ??= make();
  return holder[slot];
}
