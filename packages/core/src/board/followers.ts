import type { StoreConfigurationError, StoreUnavailableError } from '../errors.js';

/** What one process broadcast. */
export interface Broadcast {
  /** Random id of its store object. */
  readonly process: string;
  /** When, by the store's clock; ms since 1970. */
  readonly time: number;
  readonly text: string;
}

/** Receives what the processes of a store broadcast. None of its functions may throw. */
export interface Follower {
  received(broadcast: Broadcast): void;
  /** The store is out, or refuses: texts are missed until `resumed`. */
  lost(error: StoreUnavailableError | StoreConfigurationError): void;
  resumed(): void;
}

/** The followers in this process. */
export class Followers implements Follower {
  readonly #all = new Set<Follower>();
  /** Called when one is added. */
  began = (): void => {};

  get any(): boolean {
    return this.#all.size > 0;
  }

  /** @returns a function that removes it */
  add(follower: Follower): () => void {
    // One object may follow twice.
    const one: Follower = {
      received: (broadcast) => follower.received(broadcast),
      lost: (error) => follower.lost(error),
      resumed: () => follower.resumed(),
    };
    this.#all.add(one);
    this.began();
    return () => void this.#all.delete(one);
  }

  received(broadcast: Broadcast): void {
    for (const one of [...this.#all]) one.received(broadcast);
  }

  lost(error: StoreUnavailableError | StoreConfigurationError): void {
    for (const one of [...this.#all]) one.lost(error);
  }

  resumed(): void {
    for (const one of [...this.#all]) one.resumed();
  }

  clear(): void {
    this.#all.clear();
  }
}
