import type { Store } from '../stores/store.js';

/** A store around another: what a layer does not say itself it says as that does, also what that learns later. */
export const around = <Own extends Partial<Store>>(store: Store, own: Own): Store & Own => ({
  name: store.name,
  remote: store.remote,
  get slotted() {
    return store.slotted;
  },
  clock: store.clock,
  decide: (call, asked) => store.decide(call, asked),
  listen: (key, granted) => store.listen(key, granted),
  rate: (change, asked) => store.rate(change, asked),
  close: () => store.close(),
  ...own,
});
