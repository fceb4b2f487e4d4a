import { type Entry, expiryOf, isEnvelope } from '../decisions/entry.js';

/** Why an entry is kept, from what is forgotten first to what is forgotten last. */
export const Rank = {
  ordinary: 0,
  /** Its last call was denied, or somebody waits at it: forgetting it would let an attacker in again. */
  denied: 1,
  /** It is blocked or overridden: what operators say outlasts whatever clients can do. */
  ruled: 2,
} as const;
export type Rank = (typeof Rank)[keyof typeof Rank];

export function rankOf(entry: Entry, now: number, denied: boolean): Rank {
  if (isEnvelope(entry)) {
    if (entry.blockedUntil > now || entry.overrideUntil > now) return Rank.ruled;
    if (entry.queue.length > 0) return Rank.denied;
  }
  return denied ? Rank.denied : Rank.ordinary;
}

/**
 * What a memory store remembers, at most `maxKeys` keys: one row for each rank, each in the order in which keys came into it.
 * When there is no room, the oldest key of the lowest rank goes, in constant time.
 */
export class MemoryEntries {
  readonly #ordinary = new Row();
  readonly #denied = new Row();
  readonly #ruled = new Row();
  readonly #rows = [this.#ordinary, this.#denied, this.#ruled] as const;
  #sweeping: Iterator<[string, Entry]> | undefined;

  constructor(readonly maxKeys: number) {}

  get size(): number {
    return this.#ordinary.map.size + this.#denied.map.size + this.#ruled.map.size;
  }

  get(key: string): Entry | undefined {
    return this.#ordinary.map.get(key) ?? this.guarded(key);
  }

  /** The entry of an ordinary key: what nearly all calls find. */
  ordinary(key: string): Entry | undefined {
    return this.#ordinary.map.get(key);
  }

  /** The entry of a key that is denied or ruled. */
  guarded(key: string): Entry | undefined {
    return this.#denied.map.get(key) ?? this.#ruled.map.get(key);
  }

  /** Writes the entry of a key that is ordinary and stays so. */
  rewrite(key: string, entry: Entry): void {
    this.#ordinary.map.set(key, entry);
  }

  isDenied(key: string): boolean {
    return this.#denied.map.has(key);
  }

  /** @param known is it remembered already, in whatever rank? */
  set(key: string, entry: Entry, rank: Rank, known: boolean): void {
    const { map } = this.#rows[rank];
    if (!known) {
      if (this.size >= this.maxKeys) this.#forgetOne();
      map.set(detached(key), entry);
    } else {
      let moved = false;
      for (const row of this.#rows) if (row.map !== map && row.map.delete(key)) moved = true;
      map.set(moved ? detached(key) : key, entry);
    }
  }

  delete(key: string): void {
    for (const { map } of this.#rows) if (map.delete(key)) return;
  }

  clear(): void {
    for (const row of this.#rows) row.clear();
    this.#sweeping = undefined;
  }

  /** Looks at the next so many keys, and forgets those whose entries are worth nothing any more. */
  sweep(now: number, keys: number): void {
    this.#sweeping ??= this.#all();
    for (let looked = 0; looked < keys; looked += 1) {
      const { done, value } = this.#sweeping.next();
      if (done) {
        this.#sweeping = undefined;
        break;
      }
      if (expiryOf(value[1]) <= now) this.delete(value[0]);
    }
    if (this.size < this.maxKeys) for (const row of this.#rows) row.rest();
  }

  *#all(): Generator<[string, Entry], undefined> {
    for (const { map } of this.#rows) yield* map;
  }

  #forgetOne(): void {
    for (const row of this.#rows) if (row.forgetOldest()) return;
  }
}

/**
 * A Map that finds its oldest key at once. A key that is deleted leaves a hole, and a new iterator steps over all of them: with
 * many gone, that would take longer than all the rest. So an iterator is kept that stands behind the holes.
 */
class Row {
  readonly map = new Map<string, Entry>();
  #oldest: Iterator<string> | undefined;

  forgetOldest(): boolean {
    if (this.map.size === 0) return false;
    this.#oldest ??= this.map.keys();
    let next = this.#oldest.next();
    if (next.done) {
      // It was at the end once: what came since is not for it.
      this.#oldest = this.map.keys();
      next = this.#oldest.next();
    }
    return this.map.delete(next.value!);
  }

  /** While nobody asks for the oldest: an iterator that stands still keeps every older layout of the Map alive. */
  rest(): void {
    this.#oldest = undefined;
  }

  clear(): void {
    this.map.clear();
    this.rest();
  }
}

/**
 * A copy that stands by itself. A key put together by concatenation or cut out of a longer text would keep its pieces or the
 * whole text alive for as long as it is remembered. Storage keys are ASCII.
 */
const detached = (key: string): string => Buffer.from(key, 'latin1').toString('latin1');
