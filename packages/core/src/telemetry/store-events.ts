import type {
  ConfigurationReason,
  StoreConfigurationError,
  StoreUnavailableError,
  UnavailableReason,
} from '../errors.js';

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
