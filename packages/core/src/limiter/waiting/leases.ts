import { type Decider, type Part, type PartAnswer, storageKey } from '../../engine/call.js';
import type { PolicyPart } from '../../pipeline/policy-limit.js';

/** Renewals per lease: after two failures there is time for a third attempt. */
const RENEWALS = 4;

/** µs; an override may have another lease than the policy. */
export const leaseOf = ({ limit: { rule } }: Part, { override }: PartAnswer): number =>
  override === undefined ? rule.window : rule.algorithm.size(override).window;

/**
 * Renews the leases of permits that this process holds. If the caller never releases them, renewal stops once the decision is garbage
 * collected, and the lease expires.
 */
export class Leases {
  readonly #held = new Map<string, { readonly released: AbortController; readonly lost: AbortController }>();
  #closed = false;

  get size(): number {
    return this.#held.size;
  }

  /**
   * @param owner renewal stops once it is garbage collected
   * @param lost aborted if the lease is lost: another call may hold the permits by now
   */
  hold(store: Decider, owner: object, part: PolicyPart, answer: PartAnswer, lost: AbortController): void {
    this.release(part);
    if (this.#closed) return;
    const released = new AbortController();
    this.#held.set(idOf(part), { released, lost });
    void this.#renew(store, new WeakRef(owner), part, leaseOf(part, answer), released.signal, lost);
  }

  release(part: PolicyPart): void {
    this.#held.get(idOf(part))?.released.abort();
    this.#held.delete(idOf(part));
  }

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
      const sentAt = clock.now();
      try {
        const { allowed, parts } = await store.decide(renewal);
        if (released.aborted) return;
        if (!allowed) break;
        renewed = sentAt;
        lease = leaseOf(part, parts[0]!);
      } catch {
        // The store may come back before the lease ends. Callers that need a decision get this error.
        if (clock.now() - renewed >= lease) break;
      }
      if (released.aborted) return;
    }
    this.release(part);
    lost.abort(new Error(`The lease of '${part.limit.name}' was lost: it could not be renewed in time`));
  }
}

const idOf = (part: PolicyPart) => `${part.at} ${storageKey(part)}`;
