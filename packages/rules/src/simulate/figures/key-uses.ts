import { hashKey } from '@sluice/core';

/** Quantiles of the peak use of each key: the highest share of the limit that it used, 1 for all of it. */
export interface UseQuantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

const UNUSED = -1;
const FIRST_ROOM = 1_024;
const LONGEST = 128;

/** Keys in bounded memory. A long key is stored as its beginning and a digest. */
export const boundedKey = (key: string): string =>
  key.length <= LONGEST ? key : `${key.slice(0, LONGEST - 24)}…${hashKey(key)}`;

/** Indexes of keys. Rules with the same key share them: a search in a large map costs as much as a decision. */
export class KeyPlaces {
  readonly #places = new Map<string, number>();
  #last: string | undefined;
  #lastPlace = 0;

  find(key: string): number | undefined {
    if (key === this.#last) return this.#lastPlace;
    const place = this.#places.get(key);
    if (place !== undefined) this.#remember(key, place);
    return place;
  }

  add(key: string): number {
    const place = this.#places.size;
    const kept = detached(key);
    this.#places.set(kept, place);
    this.#remember(kept, place);
    return place;
  }

  #remember(key: string, place: number): void {
    this.#last = key;
    this.#lastPlace = place;
  }
}

/** The keys of a rule, and the peak use of each limit by each key. */
export class KeyUses {
  readonly #columns = new Map<string, Float32Array>();
  /** By index: 1 for a key of this rule. */
  #seen = new Uint8Array();
  size = 0;
  /** Were there more keys than are kept? */
  more = false;

  /** @param most keys */
  constructor(
    readonly most: number,
    readonly places = new KeyPlaces(),
  ) {}

  /** The index of a key; undefined if there are too many keys. */
  placeOf(given: string): number | undefined {
    const key = boundedKey(given);
    const known = this.places.find(key);
    if (known !== undefined && this.#seen[known] === 1) return known;
    if (this.size >= this.most) {
      this.more = true;
      return undefined;
    }
    const place = known ?? this.places.add(key);
    if (place >= this.#seen.length) {
      const wider = new Uint8Array(widthFor(place));
      wider.set(this.#seen);
      this.#seen = wider;
    }
    this.#seen[place] = 1;
    this.size += 1;
    return place;
  }

  /** @param share of the limit that the key uses now */
  used(place: number, limit: string, share: number): void {
    let column = this.#columns.get(limit);
    if (column === undefined || column.length <= place) {
      const wider = new Float32Array(widthFor(place)).fill(UNUSED);
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

const widthFor = (place: number): number => Math.max(FIRST_ROOM, 2 * (place + 1));

/** A copy that does not keep the whole line of the log alive. */
const detached = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');
