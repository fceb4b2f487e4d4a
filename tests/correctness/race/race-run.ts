import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import type { FailurePolicy } from '../../../packages/core/src/index.js';

/** The store of a race: a file, a database, one server, a cluster, or a primary with Sentinels. */
export type StoreAddress =
  | { readonly kind: 'file'; readonly file: string; readonly driver: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly losesReplies?: boolean }
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
   * `consume`: calls the store itself. `hold`: takes permits of a `concurrency` policy, keeps them for a moment and releases them.
   * `decide`: calls whole limiters, whose failure policies decide while the store is out.
   */
  readonly kind: 'consume' | 'hold' | 'decide';
  readonly name: string;
  readonly policies: readonly Policy[];
  /** Number of keys of each policy. */
  readonly keys: number;
  /** Number of calls of each process; without it the run lasts until the fleet ends it. */
  readonly calls?: number;
  readonly inFlight: number;
  /** How often the network loses a reply and its connection during all `calls`. */
  readonly resets?: number;
  /** Mean time between two losses, ms, for a run without `calls`. */
  readonly resetEach?: number;
  /** The failure policy of each limiter of `decide`: one for each of `policies`. */
  readonly failurePolicies?: readonly Exclude<FailurePolicy, () => unknown>[];
}

export interface RaceRunResult {
  readonly calls: number;
  readonly resets: number;
  /** `FIELDS` numbers for each record: see `Answered`. */
  readonly answers: Float64Array;
}

export const FIELDS = 6;

/** A caller goes on until this returns false; each call of it counts one call. */
export interface Course {
  readonly raceRun: RaceRun;
  /** Random numbers of this process, from 0 to below 1. */
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

/** A key of one policy. All are hot; of 50 keys the first gets one in seven calls. */
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
