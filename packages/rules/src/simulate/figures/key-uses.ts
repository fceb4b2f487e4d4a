import { hashKey } from '@sluice/core';

/** Of the peak use of each key: the share of the limit that it used at most, 1 for all of it. */
export interface UseQuantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

const UNUSED = -1;
const FIRST_ROOM = 1_024;
const LONGEST = 128;

/** Keys in bounded memory. A long one keeps its beginning, and a digest. */
export const boundedKey = (key: string): string =>
  key.length <= LONGEST ? key : `${key.slice(0, LONGEST - 24)}…${hashKey(key)}`;

/** The keys of a rule, and the peak use of each limit by each key. */
export class KeyUses {
  readonly #places = new Map<string, number>();
  readonly #columns = new Map<string, Float32Array>();
  /** There were more keys than it keeps. */
  more = false;

  constructor(readonly most: number) {}

  get size(): number {
    return this.#places.size;
  }

  /** The place of a key; undefined if there is no room for it. */
  placeOf(given: string): number | undefined {
    const key = boundedKey(given);
    let place = this.#places.get(key);
    if (place !== undefined) return place;
    if (this.#places.size >= this.most) {
      this.more = true;
      return undefined;
    }
    place = this.#places.size;
    this.#places.set(detached(key), place);
    return place;
  }

  /** @param share of the limit that the key uses now */
  used(place: number, limit: string, share: number): void {
    let column = this.#columns.get(limit);
    if (column === undefined || column.length <= place) {
      const wider = new Float32Array(Math.max(FIRST_ROOM, 2 * (place + 1))).fill(UNUSED);
      if (column !== undefined) wider.set(column);
      column = wider;
      this.#columns.set(limit, column);
    }
    if (share > column[place]!) column[place] = share;
  }

  /** @returns the number of keys that used a limit, and the quantiles of their peaks */
  usesOf(limit: string): { readonly keys: number; readonly use: UseQuantiles } {
    const used = (this.#columns.get(limit) ?? new Float32Array()).filter((share) => share !== UNUSED).sort();
    const quantile = (share: number) => used[Math.max(0, Math.ceil(share * used.length) - 1)] ?? 0;
    const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((share) => Math.round(quantile(share) * 1e6) / 1e6);
    return { keys: used.length, use: { p50: p50!, p90: p90!, p99: p99!, max: max! } };
  }
}

/** A copy that does not keep the whole line of the log alive. */
const detached = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');
