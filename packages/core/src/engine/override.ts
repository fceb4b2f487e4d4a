import type { Parameters, State } from '../algorithms/algorithm.js';
import { Counter } from './counter.js';
import type { Envelope } from './entry.js';

const NONE: readonly number[] = [];

/**
 * Overrides: other parameters of a key, for some time. Permits that the key takes meanwhile also count under the policy's own parameters,
 * which decide again when the override ends. Held permits (concurrency) have one state for both. The twin is `override.lua`.
 */
export class OverridableCounter {
  /** Decides the call: `policy`, or during an override a counter with its parameters. */
  current: Counter;
  /** The parameters of the override as they are stored. */
  #override: Parameters = NONE;
  #until = 0;

  /** @param policy counts under the policy's own parameters */
  constructor(readonly policy: Counter) {
    this.current = policy;
  }

  get isOverridden(): boolean {
    return this.current !== this.policy;
  }

  get countsTwice(): boolean {
    return this.isOverridden && this.policy.algorithm.holders === undefined;
  }

  /** @param back µs by which the clock went back @returns whether an override has ended since the last call */
  open({ state, override, overrideUntil, policyState }: Envelope, now: number, back: number): boolean {
    const isEnded = override.length > 0 && overrideUntil - back <= now;
    if (override.length === 0 || isEnded) {
      this.policy.state = isEnded && this.policy.algorithm.holders === undefined ? policyState : state;
      return isEnded;
    }
    this.#until = overrideUntil - back;
    this.#use(override, state);
    this.policy.state = policyState;
    return false;
  }

  #use(override: Parameters, state: State | undefined): void {
    const { algorithm, parameters } = this.policy;
    this.#override = override;
    this.current = new Counter(
      algorithm,
      algorithm.override?.complete?.(override, parameters) ?? override,
      state,
    );
  }

  begin(override: Parameters, micros: number, now: number): void {
    const { algorithm, parameters, state } = this.current;
    const translated = state && (algorithm.override?.translate?.(parameters, override, state, now) ?? state);
    this.#use(override, translated);
    this.#until = now + micros;
    if (algorithm.holders !== undefined) this.policy.state = undefined;
    // Normalized to the override's parameters now, instead of at the next read.
    this.current.normalize(0, now);
    this.current.drop(now);
  }

  end(): void {
    if (this.policy.algorithm.holders !== undefined) this.policy.state = this.current.state;
    this.current = this.policy;
    this.#until = 0;
  }

  /** What the store keeps of it. */
  entry(): Pick<Envelope, 'override' | 'policyState' | 'overrideUntil'> {
    const { isOverridden } = this;
    return {
      override: isOverridden ? this.#override : NONE,
      policyState: isOverridden ? this.policy.state : undefined,
      overrideUntil: this.#until,
    };
  }
}
