import type { Parameters, State } from '../algorithms/algorithm.js';
import { type Counter, live } from './counter.js';

/**
 * Other parameters of a key, for some time. Permits that the key takes meanwhile also count under the policy's own parameters, which apply
 * again when the override ends. Held permits (concurrency) have one state for both.
 */
export class Override {
  /** The state under the policy's own parameters. */
  state: State | undefined;

  constructor(
    readonly parameters: Parameters,
    /** End of the override, µs. */
    readonly until: number,
    /** Counts with the policy's own parameters. */
    readonly policy: Counter,
    state: State | undefined,
  ) {
    this.state = this.#holds ? undefined : state;
  }

  get #holds(): boolean {
    return this.policy.algorithm.holders !== undefined;
  }

  /** The state of the key after the override. @param state under the parameters of the override */
  after(state: State | undefined): State | undefined {
    return this.#holds ? state : this.state;
  }

  /** Drops a state that has expired at `from`, and repairs any other. @returns whether that changed it */
  normalize(from: number, now: number): boolean {
    const known = live(this.state, from);
    this.state = known && this.policy.algorithm.normalize(this.policy.parameters, known, now);
    return this.state !== known;
  }

  drop(now: number): void {
    this.state = live(this.state, now);
  }

  /** Counts permits that the override allowed. */
  absorb(at: number, cost: number): void {
    if (!this.#holds) this.state = this.policy.absorb(this.state, at, cost);
  }

  /** Counts a penalty in full. @param before the state without the penalty */
  charge(before: State | undefined, now: number, cost: number): void {
    if (!this.#holds) this.state = this.policy.take(before, now, cost);
  }

  /** Gives back permits that were taken at `at`. @returns whether that changed the state */
  refund(now: number, cost: number, at: number): boolean {
    const { state: before, policy } = this;
    if (before === undefined) return false;
    this.state = live(policy.algorithm.refund(policy.parameters, before, now, cost, at), now);
    return this.state !== before;
  }
}
