import type { Decision } from '../decision.js';
import type {
  ConfigurationReason,
  StoreConfigurationError,
  StoreUnavailableError,
  UnavailableReason,
} from '../errors.js';
import type { WarningMessage } from '../warnings.js';

/** One limit of a call. */
export interface LimitedPart {
  /** The policy, as decisions name it. */
  readonly policy: string;
  /**
   * The caller's key as it is stored: 1 to 128 characters, none of which a terminal or a log interprets. With a `memoryStore` it may be a
   * view of a longer string, so copy a key that you keep.
   */
  readonly key: string;
  /** The cost of the call, in permits. */
  readonly cost: number;
}

/** How a call ended. `canceled`: its signal was aborted, or its limiter was closed, before it had its permits. */
export type CallResult = 'allowed' | 'denied' | 'canceled' | 'error';

/**
 * A call of a limiter; also `reserve`, `schedule`, `wrap`, middleware and decorators make calls. `policy`, `key` and `cost` are those of
 * the policy that decided, or of the first one. A call that is refused at once has no message: its key, cost or options are invalid,
 * its signal is already aborted, or its limiter is closed. Some fields are getters, so `{ ...message }` lacks them; `JSON.stringify` and
 * `console.log` show all.
 */
export interface DecisionMessage extends LimitedPart {
  readonly limiter: string;
  readonly operation: 'consume' | 'acquire' | 'peek';
  /** `shadow`: the caller does not enforce the decision, as with `dryRun`. */
  readonly mode: 'enforce' | 'shadow';
  /** Every limit of the call. */
  readonly parts: readonly LimitedPart[];
  /** ms, as of `performance.now()`. Up to 64 messages share a reading of the clock. */
  readonly startedAt: number;
  /** Undefined until the call ends, as are the other fields below. */
  readonly endedAt: number | undefined;
  readonly result: CallResult | undefined;
  /** Undefined if the call failed or was canceled. */
  readonly decision: Decision | undefined;
  /** Why there is no decision. */
  readonly error: unknown;
}

/** Held permits of a `concurrency` policy. The same object is published when they are held and when they no longer are. */
export interface LeaseMessage extends LimitedPart {
  readonly limiter: string;
  /**
   * `lost`: the lease could not be renewed in time, or the limiter was closed, so another call may hold the permits. `abandoned`: the
   * decision was garbage collected and never released, so the permits come back when the lease expires.
   */
  readonly state: 'held' | 'released' | 'lost' | 'abandoned';
  /** ms, as of `performance.now()`. */
  readonly startedAt: number;
  /** The same; undefined while the permits are held. */
  readonly endedAt: number | undefined;
}

/** Permits that were returned, of one policy. */
export interface RefundMessage extends Omit<LimitedPart, 'cost'> {
  readonly limiter: string;
  /** `cancel`: of a wait or a reservation. `release`: held permits. `reward`: a gift. */
  readonly reason: 'refund' | 'release' | 'cancel' | 'settle' | 'reward';
  /** Permits to return. For `settle` 0 if the estimate was right, and negative if the call cost more and took the rest. */
  readonly permits: number;
  /** Of `settle`: the estimate. The actual cost is `estimate - permits`. */
  readonly estimate: number | undefined;
  /** Why the store did not return them, as far as is known. */
  readonly error: unknown;
}

/** A denial has blocked a key, by the option `escalate`. Published once, by the process that made the denied call. */
export interface EscalatedMessage extends Omit<LimitedPart, 'cost'> {
  readonly limiter: string;
  /** Which of the durations of `block` it is, from 1 on. */
  readonly step: number;
  /** How long the block lasts, ms. */
  readonly blockedFor: number;
}

/** A key has used a part of its limit that the option `notify` names: once in a window, for all processes. */
export interface ThresholdMessage extends Omit<LimitedPart, 'cost'> {
  /** The limiter of the policy, also in a combination. */
  readonly limiter: string;
  /** The policy, as decisions of its limiter name it. */
  readonly policy: string;
  /** The part of the limit: `80%`. */
  readonly threshold: string;
  /** Permits in a window, also of an override. */
  readonly limit: number;
  /** Permits used in this window. With penalties it can be more than `limit`. */
  readonly used: number;
  /** When the window began and when it ends: ms since 1970, by the store's clock. */
  readonly windowStart: number;
  readonly windowEnd: number;
}

/** One script call of a `redisStore` that decides calls. */
export interface StoreCallMessage {
  /** The name of the store: `redis`. */
  readonly store: string;
  /** The server's address, without a password; undefined if it is not known. */
  readonly address: string | undefined;
  /** The cluster node, `host:port`; undefined if the call was not sent to one node directly. */
  readonly node: string | undefined;
  /** Number of calls that it decides. */
  readonly calls: number;
  /** When it was sent; ms, as of `performance.now()`. */
  readonly startedAt: number;
  /** When its reply arrived, or when it failed. */
  readonly endedAt: number;
  /** Why it failed as a whole: a `StoreUnavailableError`, with `neverSent` if it was not sent, or a `StoreConfigurationError`. */
  readonly error: unknown;
}

/** An error of a store, or of one node of a cluster. */
export interface StoreErrorEvent {
  /** The store's name, as in `decision.source`. */
  readonly store: string;
  readonly reason: UnavailableReason | ConfigurationReason;
  readonly error: StoreUnavailableError | StoreConfigurationError;
  /** The last error of the client's connection, if it has not recovered since. */
  readonly connectionError: Error | undefined;
  /** The server's address, without a password; undefined if it is not known. */
  readonly address: string | undefined;
  /** The cluster node, `host:port`. */
  readonly node: string | undefined;
}

/** The store is out: failure policies decide. */
export interface DegradedEvent extends StoreErrorEvent {
  readonly reason: UnavailableReason;
  readonly error: StoreUnavailableError;
}

/** The store decides again. */
export interface RecoveredEvent extends Pick<StoreErrorEvent, 'store' | 'address' | 'node'> {
  /** How long it was out, ms. */
  readonly after: number;
}

/** Events of a store, for `store.on` and the diagnostics channels. Each reports a change, not every call. */
export interface StoreEvents {
  /**
   * A call failed for another reason than the failure before, or the first in ten seconds. Also for errors that no failure policy
   * decides.
   */
  readonly storeError: StoreErrorEvent;
  /** Five calls in a row had no answer: from now on failure policies decide, without a call to the store or node. */
  readonly degraded: DegradedEvent;
  /** The store has decided a call again, and decides all that follow. */
  readonly recovered: RecoveredEvent;
}

/** The rules of a process changed, or did not change although they should have: of `loadRules` of @sluice/rules. */
export interface RulesMessage {
  /** The name of the document in force. */
  readonly rules: string;
  /** Where they come from: `limits.yaml`, `redis sluice:v2:rules:{rules}`, `a function`. */
  readonly source: string;
  /**
   * - `loaded`: a version is in force, or still is now that its source can be read again;
   * - `refused`: a version is not acceptable;
   * - `unreadable`: the source could not be read.
   *
   * After `refused` and `unreadable` the version before stays in force.
   */
  readonly result: 'loaded' | 'refused' | 'unreadable';
  /** As the document in force has it. */
  readonly version: string | number | undefined;
  /** Identifies the text in force: equal in all processes that run the same text. Undefined for the option `fallback`. */
  readonly fingerprint: string | undefined;
  /** Of `refused`: a `RulesError` with all problems. Of `unreadable`: a `RulesSourceError`. */
  readonly error: unknown;
}

/** Calls to another service are paused, or a pause was ended early: of @sluice/outgoing. Published by the process that did it. */
export interface PauseMessage {
  /** The name of the upstream. */
  readonly upstream: string;
  readonly state: 'paused' | 'resumed';
  /** How far the pause reaches: this account's calls of one route or of one budget, all calls of the account, or of all accounts. */
  readonly scope: 'endpoint' | 'dimension' | 'account' | 'upstream';
  /** Under which it is stored. Credentials are in it as a keyed hash only. */
  readonly key: string;
  /** `limit`, `quota`, `overload`: the service refused a call. `exhausted`: it said that nothing is left. `unknown`: another process paused. */
  readonly kind: 'limit' | 'quota' | 'overload' | 'exhausted' | 'unknown';
  /** Why, in the words of the service. */
  readonly reason: string;
  /** Of the response that said so; 0: unknown. */
  readonly status: number;
  /** Of that response: the header that stated the time; '' if its body did, or the documentation of the service. */
  readonly header: string;
  /** When the pause ends: ms since 1970, by the store's clock. */
  readonly until: number;
}

/** What becomes of a hold of a budget: of @sluice/meter. One object for each hold, which is published again with each change. */
export interface HoldMessage {
  /** The name of the budget. */
  readonly meter: string;
  readonly id: string;
  /**
   * - `held`: it has begun, holds more, or was renewed;
   * - `denied`: it does not begin, or does not hold more: it holds what it held before;
   * - `settled`: `amounts` were used in its place;
   * - `canceled`: everything came back;
   * - `lapsed`: it was not renewed in time, as this process has found out.
   */
  readonly state: 'held' | 'denied' | 'settled' | 'canceled' | 'lapsed';
  /** By axis. What runs at once is held, and never settled. */
  readonly amounts: Readonly<Record<string, number>>;
  /** Of `denied`: which axis has denied, and its key as it is stored. */
  readonly axis: string | undefined;
  readonly key: string | undefined;
  /** Of `denied`: ms until the same call can pass; `Infinity`: never. */
  readonly retryAfter: number | undefined;
  /** When it lapses, unless it is renewed: ms, as of `performance.now()`. */
  readonly lapsesAt: number;
}

/** The messages of each channel. */
export interface TelemetryMessages {
  /** A `consume` or an `acquire` has ended. */
  readonly 'sluice:decision': DecisionMessage;
  /**
   * An `acquire` begins to wait, for its booked moment or for permits that other calls hold: `result` is undefined. The same object
   * is published again when the call ends.
   */
  readonly 'sluice:wait': DecisionMessage;
  /** Held permits: once when they are held, and once when they no longer are. */
  readonly 'sluice:lease': LeaseMessage;
  /** A denial has blocked a key. */
  readonly 'sluice:escalated': EscalatedMessage;
  /** Permits were returned, or could not be. */
  readonly 'sluice:refund': RefundMessage;
  /** A key has used a part of its limit that `notify` names. */
  readonly 'sluice:threshold': ThresholdMessage;
  /** A script call to the store has ended. */
  readonly 'sluice:store-call': StoreCallMessage;
  /** The events of `store.on`. */
  readonly 'sluice:degraded': DegradedEvent;
  readonly 'sluice:recovered': RecoveredEvent;
  readonly 'sluice:store-error': StoreErrorEvent;
  /** A source of rules has read a document. */
  readonly 'sluice:rules': RulesMessage;
  /** Calls to another service are paused, or no longer. */
  readonly 'sluice:pause': PauseMessage;
  /** Amounts of a budget were held, settled or denied. */
  readonly 'sluice:hold': HoldMessage;
  /** A warning, which the process also emits. */
  readonly 'sluice:warning': WarningMessage;
}

/** The names of the channels. */
export type TelemetryChannel = keyof TelemetryMessages;
