/** The most numbers of a state that a cell holds. It holds two at the least. */
export const CELL_NUMBERS = 4;

/** A state of a few numbers where a store keeps it, from `at` on; and the results of `step`. */
export class Cell {
  numbers = new Float64Array(0);
  at = 0;
  length = 0;
  /** µs until `cost` permits can go; 0 if they went. */
  wait = 0;
  remaining = 0;
  reset = 0;

  read(): number[] {
    const { numbers, at } = this;
    // Literals: three times as fast as any copying of a part of the array.
    if (this.length === 2) return [numbers[at]!, numbers[at + 1]!];
    if (this.length === 3) return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
    return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!];
  }

  write(state: readonly number[]): void {
    this.length = state.length;
    for (let i = 0; i < state.length; i += 1) this.numbers[this.at + i] = state[i]!;
  }
}
