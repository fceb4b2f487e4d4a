import { StoreHealth } from '../../packages/core/src/health/store-health.js';
import { farStore } from './far-store.js';

const open: StoreHealth[] = [];
afterEach(() => {
  for (const health of open.splice(0)) health.end();
});

/** A remote store that limiters replace by their failure policy while it is out. Its events replace the warnings. */
export function failingStore() {
  const health = new StoreHealth(() => undefined);
  open.push(health);
  for (const event of ['storeError', 'degraded', 'recovered'] as const) health.on(event, () => {});
  return farStore({ health });
}
