import { performance } from 'node:perf_hooks';
import { STORE_CALL } from '../../telemetry/channels.js';
import type { Store } from '../store.js';
import type { Batch } from './batch.js';

/** Publishes a script call when its reply has come. */
export function publishStoreCall(
  { name: store, health }: Pick<Store, 'name' | 'health'>,
  batch: Batch,
  replied: Promise<unknown>,
): void {
  const address = health?.address();
  const startedAt = performance.now();
  const calls = batch.groups.reduce((sum, group) => sum + group.calls.length, 0);
  const publish = (error?: unknown) => {
    const endedAt = performance.now();
    STORE_CALL.publish({ store, address, node: batch.node, calls, startedAt, endedAt, error });
  };
  replied.then(() => publish(), publish);
}
