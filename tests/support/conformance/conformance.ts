import type fc from 'fast-check';
import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import type { Ideal } from '../../correctness/race/ideal.js';
import type { Judge } from '../../correctness/race/judge.js';
import type { Random } from '../random.js';

/** A policy of `permits` permits, 10 if nothing is given, all of them back in `period`, or a slot later. */
export type PolicyOf = (period: string, permits?: number) => Policy;

/**
 * What the suites need of an algorithm, in its own folder: `<name>.conformance.ts`. Each mode of the algorithm has a name, which begins
 * with the name of its factory. A record that a suite cannot use is left out.
 */
export interface Conformance {
  /** For the contract of stores. */
  readonly policies: Readonly<Record<string, PolicyOf>>;
  /** Permits are held until they are released, not spent. */
  readonly holds?: true;
  /** `acquire` spaces its calls, so that a call for all permits waits for nothing. */
  readonly spaces?: true;
  /** Has `speed.step`, which decides calls in place. */
  readonly inPlace?: true;
  /** For the twins in TypeScript and Lua: policies of every scale. */
  readonly random: Readonly<Record<string, fc.Arbitrary<Policy>>>;
  /** For exactness: the rule once more. */
  readonly oracles?: Readonly<Record<string, (random: Random) => Case>>;
  /** For clocks that jump: 4 permits that are back in an hour (of days, in a day; of months, in a month). */
  readonly subjects: Readonly<Record<string, Subject>>;
  /** For races of processes: about 100 permits a second each, fewer than the calls, even on a slow machine. */
  readonly contests?: Readonly<Record<string, Contest>>;
  /** For the pictures of the page of all algorithms: the policy is the one that the playground begins with. */
  readonly picture: Picture;
  /** For the table of the memory of one key. */
  readonly memory: UsedUp;
}

/** A policy, and its rule once more, written as plainly as can be. */
export interface Case {
  readonly policy: Policy;
  /** The largest cost worth trying. */
  readonly most: number;
  /** µs: the usual pause between two calls, for which the limit is about used up. */
  readonly pace: number;
  /** Permits that could go at `now`. */
  left(now: number): number;
  take(now: number, cost: number): void;
  /**
   * Where windows or ticks begin with a call: the most that go from the moment `first` to `last`. When that call is cancelled, others that
   * were promised a moment keep it, so two windows may become one: once for each of the `cancelled` moments in or shortly before that time.
   */
  within?(first: number, last: number, cancelled: readonly number[]): number;
}

/** A policy, and what it promises while the clock is right. */
export interface Subject {
  readonly policy: Policy;
  /** µs: the longest after which every permit is back. */
  readonly window: number;
  /** µs: the longest TTL of a key. A bucket's key lasts up to twice as long as the bucket takes to fill. */
  readonly longestTtl: number;
  /** The most permits that go in a span of `span` µs, both of its ends included. */
  most(span: number): number;
}

/** A policy, its promise, and what it admits without faults. */
export interface Contest {
  readonly policy: Policy;
  readonly judge: Judge;
  readonly ideal: () => Ideal;
  /** It also denies some calls that the promise would allow. */
  readonly cautious?: true;
}

export interface Picture {
  /** The most calls that can have passed `elapsed` µs after the first. */
  readonly promise: (elapsed: number) => number;
  /** Step of the bound, µs. 0: it rises steadily. */
  readonly step: number;
  /** Calls wait for their permits (`acquire`). */
  readonly waits?: true;
  /** How long each call holds its permit, µs. */
  readonly holds?: number;
}

/** A policy of 100 permits an hour, or of 10 holders, and the calls after which its state is as large as it can be. */
export interface UsedUp {
  readonly options: Readonly<Record<string, string | number>>;
  /** Calls that use up the limit together. Default: 1. */
  readonly calls?: number;
  /** µs from one call to the next. Default: 0. */
  readonly gap?: number;
}
