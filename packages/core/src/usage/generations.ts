import { mergeSummaries } from './merge.js';
import { SpaceSaving } from './space-saving.js';
import type { Summary } from './summary.js';

/** Generations that are kept, with the one under way. */
export const GENERATIONS = 3;

/** The heaviest keys of the last minutes: a summary for each generation, merged when they are read. */
export class Generations {
  #current: SpaceSaving | undefined;
  /** The last one first. */
  #ended: (Summary | undefined)[] = [];

  add(key: string, weight: number): void {
    this.#current ??= new SpaceSaving();
    this.#current.add(key, weight);
  }

  /** Begins a generation. */
  next(): void {
    this.#ended = [this.#current?.summary, ...this.#ended].slice(0, GENERATIONS - 1);
    this.#current = undefined;
  }

  /** Its errors and `unlisted` are at most a 256th of its total. */
  get summary(): Summary {
    return mergeSummaries([this.#current?.summary, ...this.#ended].filter((one) => one !== undefined));
  }
}
