import type { Decision } from '../decision.js';
import type { WarningMessage } from '../warnings.js';
import type { DegradedEvent, RecoveredEvent, StoreErrorEvent } from './store-events.js';

/** One limit of a call. */
export interface LimitedPart {
  /** The policy, as decisions name it. */
  readonly policy: string;
  /** As it is stored: at most 128 characters, and none that a terminal or a log line would interpret. */
  readonly key: string;
  /** Permits asked for. */
  readonly cost: number;
}

/** How a call ended. `canceled`: its signal was aborted or its limiter was closed while it waited. */
export type CallResult = 'allowed' | 'denied' | 'canceled' | 'error';

/** A call of a limiter. `reserve`, `schedule` and middleware make them, too. Its last four fields are set when it ends. */
export interface DecisionMessage {
  readonly limiter: string;
  readonly operation: 'consume' | 'acquire' | 'peek';
  /** `shadow`: the caller does not enforce the decision, as with `dryRun`. */
  readonly mode: 'enforce' | 'shadow';
  /** The key of the policy that `decision.policy` names, or of the first policy; see `LimitedPart`. */
  readonly key: string;
  /** Permits asked of that policy. */
  readonly cost: number;
  /** Every limit of the call. */
  readonly parts: readonly LimitedPart[];
  /** When the call was made; ms, as of `performance.now()`. */
  readonly startedAt: number;
  /** Undefined while the call is under way. */
  readonly result: CallResult | undefined;
  /** Undefined if the call failed or was canceled. */
  readonly decision: Decision | undefined;
  /** Why there is no decision. */
  readonly error: unknown;
}

/** Held permits of a `concurrency` policy. The same object is published when they are held and when they are not any more. */
export interface LeaseMessage extends LimitedPart {
  readonly limiter: string;
  /** `lost`: it could not be renewed in time, so another call may hold the permit. */
  readonly state: 'held' | 'released' | 'lost';
  /** ms, as of `performance.now()`. */
  readonly startedAt: number;
}

/** Permits that were given back, of one policy. */
export interface RefundMessage {
  readonly limiter: string;
  readonly policy: string;
  /** See `LimitedPart`. */
  readonly key: string;
  /** `cancel`: a wait or a reservation was canceled. `release`: held permits. `reward`: a gift, of any call's permits. */
  readonly reason: 'refund' | 'release' | 'cancel' | 'settle' | 'reward';
  /** Permits given back. Negative for `settle`: more were taken, because the call cost more than its estimate. */
  readonly permits: number;
  /** Of `settle`: the estimate. The actual cost is `estimate - permits`. */
  readonly estimate: number | undefined;
  /** Why the store did not do it. */
  readonly error: unknown;
}

/** One script call to a remote store. */
export interface StoreCallMessage {
  readonly store: string;
  /** The server's address, without a password; undefined if it is not known. */
  readonly address: string | undefined;
  /** Of a cluster: `host:port`. */
  readonly node: string | undefined;
  /** Decisions that it carried. */
  readonly calls: number;
  /** When it was sent, and when its reply came; ms, as of `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Why it failed as a whole. */
  readonly error: unknown;
}

/** The messages of each channel. */
export interface TelemetryMessages {
  /** A `consume` or an `acquire` has ended. */
  readonly 'sluice:decision': DecisionMessage;
  /**
   * An `acquire` begins to wait, for its booked moment or for permits that other calls hold: `result` is undefined. And the same object
   * again when the call has ended.
   */
  readonly 'sluice:wait': DecisionMessage;
  readonly 'sluice:lease': LeaseMessage;
  readonly 'sluice:refund': RefundMessage;
  readonly 'sluice:store-call': StoreCallMessage;
  /** The events of `store.on`. */
  readonly 'sluice:degraded': DegradedEvent;
  readonly 'sluice:recovered': RecoveredEvent;
  readonly 'sluice:store-error': StoreErrorEvent;
  readonly 'sluice:warning': WarningMessage;
}

export type TelemetryChannel = keyof TelemetryMessages;
