import { performance } from 'node:perf_hooks';
import { type Decider, type Part, type PartAnswer, storageKey } from '../../engine/call.js';
import type { PolicyPart } from '../../pipeline/policy-limit.js';
import { LEASE } from '../../telemetry/channels.js';
import type { LeaseMessage } from '../../telemetry/messages.js';

/** Renewals per lease: after two failures there is time for a third attempt. */
const RENEWALS = 4;

/** µs; an override may have another lease than the policy. */
export const leaseOf = ({ limit: { rule } }: Part, { override }: PartAnswer): number =>
  override === undefined ? rule.window : rule.algorithm.size(override).window;

type Changing<T> = { -readonly [K in keyof T]: T[K] };

interface Held {
  readonly released: AbortController;
  readonly lost: AbortController;
  readonly message: Changing<LeaseMessage> | undefined;
}

type Ending = Exclude<LeaseMessage['state'], 'held'>;

function publishEnd({ message }: Held, state: Ending): void {
  if (message === undefined) return;
  message.state = state;
  message.endedAt = performance.now();
  LEASE.publish(message);
}

/**
 * Renews the leases of permits that this process holds. If the caller never releases them, renewal stops once the decision is garbage
 * collected, and the lease expires.
 */
export class Leases {
  readonly #held = new Map<string, Held>();
  #closed = false;

  constructor(private readonly limiter: string) {}

  get size(): number {
    return this.#held.size;
  }

  /**
   * @param owner renewal stops once it is garbage collected
   * @param lost aborted if the lease is lost: another call may hold the permits by now
   */
  hold(store: Decider, owner: object, part: PolicyPart, answer: PartAnswer, lost: AbortController): void {
    const known = this.#held.get(idOf(part));
    known?.released.abort();
    if (this.#closed) return;
    const released = new AbortController();
    const message = known?.message ?? this.#messageOf(part);
    this.#held.set(idOf(part), { released, lost, message });
    void this.#renew(store, new WeakRef(owner), part, leaseOf(part, answer), released.signal, lost);
  }

  release(part: PolicyPart): void {
    this.#end(part, 'released');
  }

  #end(part: PolicyPart, state: Ending): void {
    const held = this.#held.get(idOf(part));
    if (held === undefined) return;
    held.released.abort();
    this.#held.delete(idOf(part));
    publishEnd(held, state);
  }

  /** Publishes that permits are held. Undefined without subscribers. */
  #messageOf({ limit, key, cost }: PolicyPart): Changing<LeaseMessage> | undefined {
    if (!LEASE.hasSubscribers) return undefined;
    const message: LeaseMessage = {
      limiter: this.limiter,
      policy: limit.name,
      key,
      cost,
      state: 'held',
      startedAt: performance.now(),
      endedAt: undefined,
    };
    LEASE.publish(message);
    return message;
  }

  close(reason: Error): void {
    this.#closed = true;
    for (const held of this.#held.values()) {
      held.released.abort();
      held.lost.abort(reason);
      publishEnd(held, 'lost');
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
      if (owner.deref() === undefined) return this.#end(part, 'abandoned');
      const sentAt = clock.now();
      try {
        const { allowed, parts } = await store.decide(renewal);
        if (released.aborted) return;
        if (!allowed) break;
        renewed = sentAt;
        lease = leaseOf(part, parts[0]!);
      } catch {
        if (released.aborted) return;
        // The store may come back before the lease ends. Callers that need a decision get this error.
        if (clock.now() - renewed >= lease) break;
      }
    }
    this.#end(part, 'lost');
    lost.abort(new Error(`The lease of '${part.limit.name}' was lost: it could not be renewed in time`));
  }
}

const idOf = (part: PolicyPart) => `${part.at} ${storageKey(part)}`;
