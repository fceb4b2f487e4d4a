import { performance } from 'node:perf_hooks';
import { STORE_CALL } from '../../telemetry/channels.js';
import type { Batch } from './batch.js';

/** Publishes a script call when its reply has come. */
export function publishStoreCall(store: string, batch: Batch, replied: Promise<unknown>): void {
  const startedAt = performance.now();
  const calls = batch.groups.reduce((sum, group) => sum + group.calls.length, 0);
  const publish = (error?: unknown) => {
    const endedAt = performance.now();
    STORE_CALL.publish({ store, node: batch.node, calls, startedAt, endedAt, error });
  };
  replied.then(() => publish(), publish);
}
