import { type Store, subscribe } from '@sluice/core';
import type { Outage } from './messages.js';

/** The health of a store, as observed by this process. */
export class StoreWatch {
  readonly #outages = new Map<string, Outage>();
  /** True while the dashboard's own reads fail. */
  #failing: Outage | undefined;

  constructor(private readonly store: Store) {}

  /** Returns a function that stops watching. */
  start(): () => void {
    const isOurs = ({ store, address }: { store: string; address: string | undefined }) =>
      store === this.store.name && address === this.address;
    const stops = [
      subscribe('sluice:degraded', (message) => {
        const { node = '', error } = message;
        if (isOurs(message)) this.#outages.set(node, { node, since: Date.now(), error: error.message });
      }),
      subscribe('sluice:recovered', (message) => {
        if (isOurs(message)) this.#outages.delete(message.node ?? '');
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      this.#outages.clear();
      this.#failing = undefined;
    };
  }

  get address(): string | undefined {
    return this.store.health?.address();
  }

  /** Records a successful read of the dashboard. */
  answered(): void {
    this.#failing = undefined;
  }

  failed(error: Error): void {
    this.#failing = { node: '', since: this.#failing?.since ?? Date.now(), error: error.message };
  }

  get out(): readonly Outage[] {
    const out = [...this.#outages.values()];
    if (out.length === 0 && this.#failing !== undefined) out.push(this.#failing);
    return out;
  }
}
