import { performance } from '#platform';
import { STORE_CALL } from '../../telemetry/channels.js';
import type { Store } from '../store.js';
import type { Batch } from './batch.js';

/** Publishes one script call once its reply is there, or once it has failed; created only if anyone subscribes. */
export class StoreCall {
  #calls: number;
  #startedAt = performance.now();
  #sent = false;

  constructor(
    readonly store: Pick<Store, 'name' | 'health'>,
    readonly batch: Batch,
  ) {
    this.#calls = callsOf(batch);
  }

  /** The script is being sent, perhaps after a connection was opened; a second time with its text, if the server does not know it. */
  sent(): void {
    if (this.#sent) return;
    this.#sent = true;
    this.#calls = callsOf(this.batch);
    this.#startedAt = performance.now();
  }

  ended(error?: unknown): void {
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

/** Some of its calls may have ended since the batch was made. */
const callsOf = ({ groups }: Batch): number => groups.reduce((sum, { calls }) => sum + calls.length, 0);
