import type { Answer, Call } from '../engine/call.js';
import type { StoreUnavailableError } from '../errors.js';
import { getOrCreate } from '../get-or-create.js';
import type { Store } from '../stores/store.js';
import type { StoreHealth } from '../stores/store-health.js';
import { Invalidations } from './deny-cache.js';
import { Fallback } from './fallback.js';

/** What all pipelines to one store share. */
export class StoreContext {
  readonly invalidations = new Invalidations();
  readonly health: StoreHealth | undefined;
  /** Without `health` it is unknown whether the store is out: calls reject with its errors. */
  readonly #fallback: Fallback | undefined;

  constructor({ health, clock }: Store) {
    this.health = health;
    if (health === undefined) return;
    const fallback = new Fallback(clock);
    this.#fallback = fallback;
    health.whenEnded(() => fallback.close());
  }

  /** Decides by the failure policies. @throws `error` if none applies, or the error of a failure policy */
  decideWithoutStore(call: Call, error: StoreUnavailableError): Answer {
    if (this.#fallback === undefined) throw error;
    return this.#fallback.decide(call, error);
  }
}

const contexts = new WeakMap<Store, StoreContext>();

export const contextOf = (store: Store): StoreContext =>
  getOrCreate(contexts, store, () => new StoreContext(store));
