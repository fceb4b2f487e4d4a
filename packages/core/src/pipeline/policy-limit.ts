import type { Limit, Part } from '../engine/call.js';
import type { StoreUnavailableError } from '../errors.js';
import type { PermitPools } from './permit-pool.js';

/** One limit of a limiter. */
export interface PolicyLimit extends Limit {
  /** Its name in decisions. */
  readonly name: string;
  /** Its name in its limiter. */
  readonly policy: string;
  /** How it decides while its store is out. Without it, calls reject. */
  readonly fallback?: FallbackLimit | undefined;
  /** Prefetched permits, if the limit has the option. */
  readonly prefetch?: PermitPools | undefined;
}

export interface PolicyPart extends Part {
  readonly limit: PolicyLimit;
}

export interface PolicyParts {
  readonly parts: readonly PolicyPart[];
}

export interface FallbackLimit {
  /** `'local'`: this process decides by itself. */
  choose(error: StoreUnavailableError): 'local' | 'allow' | 'deny';
  /** The limit of this process alone. */
  readonly limit: Limit;
}

/** The parts of a call that a limiter made. */
export const policyParts = ({ parts }: { readonly parts: readonly Part[] }): readonly PolicyPart[] =>
  parts as readonly PolicyPart[];
