import type { Limit, Part } from '../engine/call.js';
import type { StoreUnavailableError } from '../errors.js';
import type { PermitPools } from './permit-pool.js';

/** One limit of a limiter. */
export interface PolicyLimit extends Limit {
  /** In decisions. */
  readonly name: string;
  /** In its limiter. */
  readonly policy: string;
  /** How it decides while its store is out. Without it, calls reject. */
  readonly fallback?: FallbackLimit | undefined;
  /** With it, permits may be prefetched. */
  readonly prefetch?: PermitPools | undefined;
}

export interface PolicyPart extends Part {
  readonly limit: PolicyLimit;
}

export interface FallbackLimit {
  /** Does this process decide by itself, or is everything allowed or denied? */
  choose(error: StoreUnavailableError): 'local' | 'allow' | 'deny';
  /** The limit of this process alone. */
  readonly limit: Limit;
}

/** The parts of a call that a limiter made. */
export const policyParts = ({ parts }: { readonly parts: readonly Part[] }): readonly PolicyPart[] =>
  parts as readonly PolicyPart[];
