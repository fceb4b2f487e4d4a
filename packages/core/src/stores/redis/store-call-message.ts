import { performance } from 'node:perf_hooks';
import { STORE_CALL } from '../../telemetry/channels.js';
import type { Store } from '../store.js';
import type { Batch } from './batch.js';

/** Publishes one script call once its reply is there; created only if anyone subscribes. */
export class StoreCall {
  #calls = 0;
  #startedAt = 0;

  constructor(
    readonly store: Pick<Store, 'name' | 'health'>,
    readonly batch: Batch,
  ) {}

  /** The script is being sent; a second time with its text, if the server does not know it. */
  sent(): void {
    if (this.#calls > 0) return;
    this.#startedAt = performance.now();
    this.#calls = this.batch.groups.reduce((sum, { calls }) => sum + calls.length, 0);
  }

  /** Publishes nothing if all calls had ended before the script was sent. */
  ended(error?: unknown): void {
    if (this.#calls === 0) return;
    STORE_CALL.publish({
      store: this.store.name,
      address: this.store.health?.address(),
      node: this.batch.node,
      calls: this.#calls,
      startedAt: this.#startedAt,
      endedAt: performance.now(),
      error,
    });
  }
}
