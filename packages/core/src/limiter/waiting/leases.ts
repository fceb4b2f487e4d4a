import { type Decider, type Part, type PartAnswer, storageKey } from '../../engine/call.js';
import type { PolicyPart } from '../../pipeline/policy-limit.js';

/** A quarter of a lease lies between two renewals: two may fail, and the third comes before its end. */
const RENEWALS = 4;

/** µs; an override may have another lease than the policy. */
export const leaseOf = ({ limit: { rule } }: Part, { override }: PartAnswer): number =>
  override === undefined ? rule.window : rule.algorithm.size(override).window;

/**
 * Renews the leases of what this process holds. Should a holder forget to release, it is renewed for no longer than its
 * decision is in use: once that is garbage, the lease runs out.
 */
export class Leases {
  readonly #held = new Map<string, { readonly released: AbortController; readonly lost: AbortController }>();
  #closed = false;

  get size(): number {
    return this.#held.size;
  }

  /**
   * @param store where it is held
   * @param owner for as long as it is in use
   * @param lost aborted when the lease is lost: somebody else may hold the permits by now
   */
  hold(store: Decider, owner: object, part: PolicyPart, answer: PartAnswer, lost: AbortController): void {
    this.release(part);
    if (this.#closed) return;
    const released = new AbortController();
    this.#held.set(idOf(part), { released, lost });
    void this.#renew(store, new WeakRef(owner), part, leaseOf(part, answer), released.signal, lost);
  }

  /** Renews it no more. */
  release(part: PolicyPart): void {
    this.#held.get(idOf(part))?.released.abort();
    this.#held.delete(idOf(part));
  }

  /** Nothing is renewed any more: what is held will be somebody else's. */
  close(reason: Error): void {
    this.#closed = true;
    for (const { released, lost } of this.#held.values()) {
      released.abort();
      lost.abort(reason);
    }
    this.#held.clear();
  }

  async #renew(
    store: Decider,
    owner: WeakRef<object>,
    part: PolicyPart,
    first: number,
    released: AbortSignal,
    lost: AbortController,
  ): Promise<void> {
    const { clock } = store;
    let lease = first;
    const renewal = { operation: 'renew', wait: 0, parts: [part] } as const;
    for (let renewed = clock.now(); ; ) {
      const left = Math.max(0, renewed + lease - clock.now());
      try {
        await clock.sleep(Math.min(Math.floor(lease / RENEWALS), left), released, { idle: true });
      } catch {
        return; // released
      }
      if (owner.deref() === undefined) return this.release(part);
      const asked = clock.now();
      try {
        const { allowed, parts } = await store.decide(renewal);
        if (released.aborted) return;
        if (!allowed) break;
        renewed = asked;
        lease = leaseOf(part, parts[0]!);
      } catch {
        // Out of reach for the moment: that is told to whoever asks for a decision. The lease goes on until its end.
        if (clock.now() - renewed >= lease) break;
      }
      if (released.aborted) return;
    }
    this.release(part);
    lost.abort(new Error(`The lease of '${part.limit.name}' was lost: it could not be renewed in time`));
  }
}

const idOf = (part: PolicyPart) => `${part.at} ${storageKey(part)}`;
