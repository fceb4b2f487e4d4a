import type { Booking } from '../call/booking.js';
import { KeyCall, type Part } from '../call/call.js';
import type { Limit } from '../call/limit.js';
import type { Clock } from '../clock.js';
import type { StoreUnavailableError } from '../errors.js';
import type { PermitPools } from './prefetch/permit-pool.js';

/** How calls wait for a limit. */
export interface BookingSource {
  of(cost: number, clock: Clock): Booking;
}

/** One limit of a limiter. */
export interface PolicyLimit extends Limit {
  /** How its calls wait. */
  readonly waiting?: BookingSource | undefined;
  /** Its name in decisions. */
  readonly name: string;
  /** Its name in its limiter. */
  readonly policy: string;
  /** How it decides while its store is out. Without it, calls reject. */
  readonly fallback?: FallbackLimit | undefined;
  /** Prefetched permits, if the limit has the option. */
  readonly prefetch?: PermitPools | undefined;
  /** With an escalation: what decides calls that are not enforced, whose denials do not count. */
  readonly shadow?: Pick<PolicyLimit, 'rule' | 'fallback'> | undefined;
  /** Thresholds to report. */
  readonly notify?: Thresholds | undefined;
}

/** The thresholds of one policy. */
export interface Thresholds {
  /** The names of its limiter and, there, of the policy. */
  readonly limiter: string;
  readonly policy: string;
  /** The start of the storage keys that say which thresholds were reported. */
  readonly prefix: string;
  readonly suffix: string;
  /** Ascending, in hundredths of a percent. */
  readonly levels: readonly number[];
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

/** The call, by limits that count no denial for an escalation: its caller does not enforce the decision. */
export function shadowCall(call: KeyCall): KeyCall {
  const parts = policyParts(call);
  if (parts.every(({ limit }) => limit.shadow === undefined)) return call;
  const { operation, wait, traced, overrides } = call;
  const plain = parts.map((part) => ({ ...part, limit: { ...part.limit, ...part.limit.shadow } }));
  return KeyCall.of({ operation, wait, parts: plain, traced, overrides });
}

/** The parts of a call that a limiter made. */
export const policyParts = ({ parts }: { readonly parts: readonly Part[] }): readonly PolicyPart[] =>
  parts as readonly PolicyPart[];
