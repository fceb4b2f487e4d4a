import type { RedisStore } from '../../packages/core/src/index.js';

/** For programs that tests start: their outages are intended, so a listener replaces the warning. */
export function expectOutages(store: RedisStore): RedisStore {
  return store.on('degraded', () => {});
}
