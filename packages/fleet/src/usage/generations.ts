/** Generations that are kept, with the one under way. */
export const GENERATIONS = 3;

/** What was counted lately: a counter for each generation, whose summaries are merged when they are read. */
export class Generations<Counter extends { readonly summary: Sum }, Sum> {
  #current: Counter | undefined;
  /** The last one first. */
  #ended: (Sum | undefined)[] = [];

  constructor(
    readonly create: () => Counter,
    readonly merge: (sums: readonly Sum[]) => Sum,
    /** Generations that are kept, with the one under way. */
    readonly kept = GENERATIONS,
  ) {}

  /** Counts the generation under way. Created at the first call. */
  get current(): Counter {
    this.#current ??= this.create();
    return this.#current;
  }

  /** Begins a generation. */
  next(): void {
    this.#ended = [this.#current?.summary, ...this.#ended].slice(0, this.kept - 1);
    this.#current = undefined;
  }

  get summary(): Sum {
    return this.merge([this.#current?.summary, ...this.#ended].filter((one) => one !== undefined));
  }
}
