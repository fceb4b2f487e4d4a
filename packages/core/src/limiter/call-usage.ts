import type { Answer } from '../call/call.js';
import type { Decision } from '../decision.js';
import { isRateLimitExceededError, isStoreUnavailableError } from '../errors.js';
import type { PolicyPart, PolicyParts } from '../pipeline/policy-limit.js';
import type { Store } from '../stores/store.js';
import { CallCounter } from '../usage/call-counter.js';
import type { TopKeys } from '../usage/top-keys.js';
import type { CallObserver } from './observer.js';

/**
 * Whose keys a limiter counts: its own; the keys of each member of a combination; none, if all calls have the same one.
 */
export type CountedKeys = 'own' | 'members' | 'none';

const NO_MEMBERS: ReadonlyMap<string, string> = new Map();

/** Counts the calls of a limiter in the usage of its store. */
export class CallUsage implements CallObserver {
  readonly #counter: CallCounter;
  readonly #keys: CountedKeys;
  /** Of a combination: the counters of its limiters, by their names in it. */
  readonly #members: ReadonlyMap<string, CallCounter>;

  constructor(counter: CallCounter, keys: CountedKeys, members: ReadonlyMap<string, CallCounter>) {
    this.#counter = counter;
    this.#keys = keys;
    this.#members = members;
  }

  /**
   * Undefined if the store does not count.
   * @param members of a combination: the names of its limiters, by their names in it
   */
  static of(
    { usage }: Store,
    limiter: string,
    keys: CountedKeys = 'own',
    members: ReadonlyMap<string, string> = NO_MEMBERS,
  ): CallUsage | undefined {
    if (usage === undefined) return undefined;
    // A call counts once under a name.
    const names = [limiter, ...members.values()];
    const single = [...members].filter(([, name]) => names.indexOf(name) === names.lastIndexOf(name));
    const counters = single.map(([member, name]) => [member, new CallCounter(usage, name)] as const);
    return new CallUsage(new CallCounter(usage, limiter), keys, new Map(counters));
  }

  topKeys(): TopKeys {
    return this.#counter.topKeys();
  }

  decided({ parts }: PolicyParts, decision: Decision, _: Answer | undefined, shadow: boolean): void {
    const { allowed, policy } = decision;
    this.#counter.count(allowed ? 'allowed' : 'denied', shadow);
    if (this.#keys === 'none') return;
    if (this.#counter.store.keyUse) this.#used(parts, decision, shadow);
    if (allowed) this.#took(parts, shadow);
    else {
      const denying = parts.find(({ limit }) => limit.name === policy)!;
      this.#counter.denied(this.#keyOf(denying), shadow);
      this.#members.get(denying.limit.policy)?.count('denied', shadow);
    }
  }

  failed(call: PolicyParts, error: unknown, shadow: boolean, canceled: boolean): void {
    const denial =
      isRateLimitExceededError(error) || isStoreUnavailableError(error) ? error.decision : undefined;
    if (denial !== undefined) this.decided(call, denial, undefined, shadow);
    else this.#counter.count(canceled ? 'canceled' : 'error', shadow);
  }

  /** Penalties are no calls. */
  charged(): void {}

  /**
   * The policies of one limiter have one key, and may have several costs: the largest counts. Of a denied call, only the limiter that
   * denied it counts one.
   */
  #took(parts: readonly PolicyPart[], shadow: boolean): void {
    for (let i = 0; i < parts.length; ) {
      const part = parts[i]!;
      const key = this.#keyOf(part);
      let { cost } = part;
      this.#members.get(part.limit.policy)?.count('allowed', shadow);
      for (i += 1; i < parts.length && this.#keyOf(parts[i]!) === key; i += 1)
        cost = Math.max(cost, parts[i]!.cost);
      this.#counter.took(key, cost);
    }
  }

  /** The policies of a denied call are there, too: a request that one rule denied met the others. */
  #used(parts: readonly PolicyPart[], { policies }: Decision, shadow: boolean): void {
    for (let i = 0; i < parts.length; i += 1) {
      const { key, limit } = parts[i]!;
      const { limit: most, remaining } = policies[i]!;
      const share = most > 0 ? Math.min(1, Math.max(0, (most - remaining) / most)) : 1;
      if (this.#keys === 'members') {
        const { policy: member, name } = limit;
        this.#members.get(member)?.used(key, name.slice(member.length + 1), share, shadow);
      } else {
        this.#counter.used(key, limit.name === this.#counter.limiter ? '' : limit.name, share, shadow);
      }
    }
  }

  #keyOf({ limit, key }: PolicyPart): string {
    return this.#keys === 'members' ? `${limit.policy} ${key}` : key;
  }
}
