import { randomUUID } from 'node:crypto';

/** `definitions`: the limiters of a process. `usage`: its decisions, and the keys that were denied most. */
export type FleetKind = 'definitions' | 'usage';

/** The text of one process. */
export interface FleetNote {
  readonly process: string;
  /** ms since it was published, by the store's clock. */
  readonly age: number;
  readonly text: string;
}

/**
 * The notice board of all processes that use a store: each publishes one short text of each kind, off the request path. No decision waits
 * for it or fails with it.
 */
export interface FleetBoard {
  /** Random id of this store object. */
  readonly process: string;
  /** Does this process publish its limiters? */
  readonly announces: boolean;
  /** Was the store closed? Then nothing is published any more. */
  readonly closed: boolean;
  /**
   * Replaces the text of this process; it expires after `ttl` ms. Connects nothing and queues nothing: resolves to false if the text was
   * not stored, because the store was not used yet, or is out, closed, or refuses it. Never rejects.
   */
  publish(kind: FleetKind, text: string, ttl: number): Promise<boolean>;
  /**
   * The texts of all processes that have not expired, the latest first. Connects if necessary.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  read(kind: FleetKind): Promise<readonly FleetNote[]>;
}

export const newProcess = (): string => randomUUID();
