import type { Store } from '../stores/store.js';
import { promised } from './asking.js';

/**
 * A store around another: what a layer does not say itself it says as that does, also what that learns later. A layer that says how
 * to `ask` has said how to `decide`.
 */
export const around = <Own extends Partial<Store>>(store: Store, own: Own): Store & Own => ({
  name: store.name,
  remote: store.remote,
  get slotted() {
    return store.slotted;
  },
  get budget() {
    return store.budget;
  },
  get fallback() {
    return store.fallback;
  },
  clock: store.clock,
  decide: (call, asked) =>
    own.ask === undefined ? store.decide(call, asked) : promised(own.ask, call, asked),
  listen: (key, granted) => store.listen(key, granted),
  rate: (change, asked) => store.rate(change, asked),
  close: () => store.close(),
  ...own,
});
