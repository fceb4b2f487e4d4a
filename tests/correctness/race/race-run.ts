import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import type { FailurePolicy } from '../../../packages/core/src/index.js';

/** Where the store of a race is: one server, a cluster, or what Sentinels look after. */
export type StoreAddress =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'cluster'; readonly addresses: readonly Address[] }
  | { readonly kind: 'sentinels'; readonly addresses: readonly Address[]; readonly name: string };

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What every process of the fleet does at the same time. */
export interface RaceRun {
  /**
   * `consume`: asks the store itself. `hold`: takes permits of a `concurrency` policy, keeps them for a moment and releases them.
   * `decide`: asks whole limiters, whose failure policies speak while the store is out.
   */
  readonly kind: 'consume' | 'hold' | 'decide';
  readonly name: string;
  readonly policies: readonly Policy[];
  /** Of each policy. */
  readonly keys: number;
  /** How many calls; without it, until the fleet says that it is over. */
  readonly asks?: number;
  readonly inFlight: number;
  /** How often the network loses a reply together with its connection, during all `asks`. */
  readonly resets?: number;
  /** The same for a run without an end of its own: ms between two losses, on average. */
  readonly resetEach?: number;
  /** Of the limiters of `decide`. */
  readonly failurePolicy?: Exclude<FailurePolicy, () => unknown>;
}

export interface RaceRunResult {
  readonly asked: number;
  readonly resets: number;
  /** `FIELDS` numbers for each record: see `Answered`. */
  readonly answers: Float64Array;
}

export const FIELDS = 6;

/** Who asks takes part until this says no; each call of it is one that is asked. */
export interface Course {
  readonly raceRun: RaceRun;
  /** Random numbers of this process, from 0 up to and without 1. */
  readonly fraction: () => number;
  goesOn(): boolean;
  record(
    key: number,
    moment: number,
    cost: number,
    allowed: boolean,
    detail: number,
    degraded?: boolean,
  ): void;
}

/** One key of one policy: all are hot, and the first hottest: with 50 keys one in seven calls is for it. */
export function draw({ raceRun: { policies, keys }, fraction }: Course): {
  key: number;
  policy: number;
  cost: number;
} {
  const policy = Math.floor(policies.length * fraction());
  const key = policy * keys + Math.floor(keys * fraction() ** 2);
  return { key, policy, cost: 1 + Math.floor(fraction() ** 4 * 3) };
}

/** Where the state of a key lives. */
export const keyOf = ({ name }: RaceRun, key: number): string => `${name}:{${key}}`;

/** A call that finds the store out is repeated a little later: otherwise a run would consist of such answers. */
export const afterFailure = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
