/** Candidates in one pass. */
const SIDE_BY_SIDE = 7;
const AROUND = [1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64];
const ABOVE = [2, 4, 16, 64, 256, 1_024, 16_384];

/** Searches the smallest limit that denies at most `most` requests. Each pass tries several candidates. */
export class SmallestSearch {
  readonly #denied = new Map<number, number>();
  /** The largest limit that denies too many. A limit of 0 denies all. */
  #tooSmall = 0;
  /** The smallest limit that denies few enough. */
  #enough: number | undefined;
  /** The smallest limit that the algorithm rejects. */
  #end = Number.MAX_SAFE_INTEGER;
  candidates: readonly number[];
  #cost: number | undefined;
  #isExact = true;

  /**
   * @param start the limit around which the search begins
   * @param most the most denials
   */
  constructor(
    start: number,
    readonly most: number,
  ) {
    this.candidates = whole(AROUND.map((factor) => start * factor));
  }

  /** The smallest limit, once there are no more candidates; undefined if none is large enough. */
  get best(): number | undefined {
    return this.#enough;
  }

  /** False if requests had different costs: a smaller limit can deny a few large requests instead of many small ones. */
  get isExact(): boolean {
    return this.#isExact;
  }

  requested(cost: number): void {
    if (cost === 0) return;
    this.#cost ??= cost;
    this.#isExact &&= cost === this.#cost;
  }

  deniedBy(limit: number): number | undefined {
    return this.#denied.get(limit);
  }

  /** @param denied requests that this limit denies; counting can stop above `most` */
  tried(limit: number, denied: number): void {
    this.#denied.set(limit, denied);
    if (denied <= this.most) this.#enough = Math.min(limit, this.#enough ?? limit);
  }

  /** The algorithm rejects this limit. */
  refused(limit: number): void {
    this.#end = Math.min(this.#end, limit);
  }

  /** Chooses the candidates of the next pass. */
  next(): void {
    const enough = this.#enough;
    const below = [...this.#denied.keys()].filter((limit) => enough === undefined || limit < enough);
    this.#tooSmall = Math.max(0, ...below);
    const from = this.#tooSmall;
    if (enough === undefined && this.#end === Number.MAX_SAFE_INTEGER) {
      this.candidates = whole(ABOVE.map((factor) => Math.max(1, from) * factor));
      return;
    }
    const to = enough ?? this.#end;
    const step = (to - from) / (SIDE_BY_SIDE + 1);
    const between = whole(Array.from({ length: SIDE_BY_SIDE }, (_, i) => from + step * (i + 1)));
    this.candidates = between.filter((limit) => limit > from && limit < to);
  }
}

/** Different whole numbers from 1 on, in order. */
const whole = (numbers: readonly number[]): number[] =>
  [...new Set(numbers.map((number) => Math.max(1, Math.round(number))))]
    .filter(Number.isSafeInteger)
    .sort((one, other) => one - other);
