import type { Store } from '../../packages/core/src/index.js';

/** A store that behaves like another, except for `changes`. */
export const like = (store: Store, but: Partial<Store>): Store => ({
  name: store.name,
  remote: store.remote,
  slotted: store.slotted,
  loading: store.loading,
  clock: store.clock,
  fleet: store.fleet,
  decide: (call, caller) => store.decide(call, caller),
  ...(store.listen && { listen: (key, granted) => store.listen!(key, granted) }),
  rate: (change, caller) => store.rate!(change, caller),
  // Otherwise a server that is silent for a second loses its connection, however long the limiter would wait.
  expect: (deadline) => store.expect?.(deadline),
  ...(store.connect && { connect: () => store.connect!() }),
  close: () => store.close(),
  ...but,
});
