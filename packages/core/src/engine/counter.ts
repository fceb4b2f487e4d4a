import { type Algorithm, NEVER, type Parameters, type State, type Usage } from '../algorithms/algorithm.js';

/** A state at a later moment: none when it is worth nothing by then. */
export const live = (state: State | undefined, at: number): State | undefined =>
  state !== undefined && state[0]! > at ? state : undefined;

/** An algorithm with its parameters, asked of states as they are at one moment or another. */
export class Counter {
  constructor(
    readonly algorithm: Algorithm,
    readonly parameters: Parameters,
  ) {}

  take(state: State | undefined, at: number, cost: number): State {
    return this.algorithm.take(this.parameters, this.#stateAt(state, at), at, cost);
  }

  /** The state after permits were taken at the promised moment of the call. */
  book(state: State | undefined, at: number, cost: number): State {
    const { algorithm, parameters } = this;
    return algorithm.book === undefined
      ? this.take(state, at, cost)
      : algorithm.book(parameters, this.#stateAt(state, at), at, cost);
  }

  /** µs that `acquire` of `cost` waits at least, because the cost is above the capacity. */
  saving(cost: number): number {
    return this.algorithm.saving?.(this.parameters, cost) ?? 0;
  }

  /** The state after a call that other parameters allowed. */
  absorb(state: State | undefined, at: number, cost: number): State {
    const { algorithm, parameters } = this;
    return algorithm.absorb === undefined
      ? this.take(state, at, cost)
      : algorithm.absorb(parameters, this.#stateAt(state, at), at, cost);
  }

  usage(state: State | undefined, at: number): Usage {
    return this.algorithm.usage(this.parameters, this.#stateAt(state, at), at);
  }

  /** Does the first call of a whole key begin a window, or start the ticks? */
  get anchored(): boolean {
    return this.algorithm.anchored?.(this.parameters) === true;
  }

  /** The moment at which every permit is back, if no other call comes. */
  fullAt(state: State | undefined, at: number): number {
    return at + this.usage(state, at).reset;
  }

  /** A key that is known is whole when its state has ended, and not one that is met for the first time. */
  #stateAt(state: State | undefined, at: number): State | undefined {
    return this.algorithm.initialState === undefined ? live(state, at) : state;
  }

  /** The first moment from `from` on at which `cost` can go; `NEVER`. `shaped`: as `acquire` has it. */
  nextMoment(state: State | undefined, from: number, cost: number, shaped: boolean): number {
    const { algorithm, parameters } = this;
    const wait = shaped && algorithm.acquireWait !== undefined ? 'acquireWait' : 'wait';
    const micros = algorithm[wait]!(parameters, this.#stateAt(state, from), from, cost);
    return micros === NEVER ? NEVER : from + micros;
  }
}
