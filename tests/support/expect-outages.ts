import type { RedisStore } from '../../packages/core/src/index.js';

/** For programs that tests start: outages of this store are made on purpose, so they are listened for, and give no warning. */
export function expectOutages(store: RedisStore): RedisStore {
  return store.on('degraded', () => {});
}
