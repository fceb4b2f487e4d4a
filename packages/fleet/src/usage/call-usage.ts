import {
  type Answer,
  type Decision,
  isRateLimitExceededError,
  isStoreUnavailableError,
  type Part,
  type TopKeys,
} from '@sluice/core';
import type { CallObserver, CallParts, ObservedLimiter } from '@sluice/core/internal';
import { CallCounter } from './call-counter.js';
import type { StoreUsage } from './store-usage.js';

const NO_MEMBERS: ReadonlyMap<string, string> = new Map();

/** Counts the calls of a limiter in the usage of its store. */
export class CallUsage implements CallObserver {
  readonly #counter: CallCounter;
  readonly #keys: ObservedLimiter['keys'];
  /** Of a combination: the counters of its limiters, by their names in it. */
  readonly #members: ReadonlyMap<string, CallCounter>;
  /** Do several members have one name, and so one counter? */
  readonly #shared: boolean;

  constructor(usage: StoreUsage, { name, keys, members = NO_MEMBERS }: ObservedLimiter) {
    this.#counter = new CallCounter(usage, name);
    this.#keys = keys;
    const others = [...members].filter(([, one]) => one !== name);
    const counters = new Map(others.map(([, one]) => [one, new CallCounter(usage, one)]));
    this.#members = new Map(others.map(([member, one]) => [member, counters.get(one)!]));
    this.#shared = counters.size < others.length;
  }

  topKeys(): TopKeys {
    return this.#counter.topKeys();
  }

  decided({ parts }: CallParts, decision: Decision, _: Answer | undefined, shadow: boolean): void {
    const { allowed, policy, degraded } = decision;
    this.#counter.count(allowed ? 'allowed' : 'denied', shadow);
    if (degraded) this.#counter.count('degraded', shadow);
    if (this.#keys === 'none') return;
    if (this.#counter.store.keyUse) this.#used(parts, decision, shadow);
    if (allowed) this.#took(parts, shadow);
    else {
      const denying = parts.find(({ limit }) => limit.name === policy)!;
      this.#counter.denied(this.#keyOf(denying), shadow, this.#policyOf(denying) || undefined);
      this.#members.get(denying.limit.policy)?.count('denied', shadow);
    }
  }

  failed(call: CallParts, error: unknown, shadow: boolean, canceled: boolean): void {
    const denial =
      isRateLimitExceededError(error) || isStoreUnavailableError(error) ? error.decision : undefined;
    if (denial !== undefined) this.decided(call, denial, undefined, shadow);
    else this.#counter.count(canceled ? 'canceled' : 'error', shadow);
  }

  /** Penalties are no calls. */
  charged(): void {}

  /**
   * The policies of one limiter have one key, and may have several costs: the largest counts. A call counts once under a name; of a denied
   * call, only the limiter that denied it counts one.
   */
  #took(parts: readonly Part[], shadow: boolean): void {
    const counted = this.#shared ? new Set<CallCounter | undefined>() : undefined;
    for (let i = 0; i < parts.length; ) {
      const part = parts[i]!;
      const key = this.#keyOf(part);
      let { cost } = part;
      const member = this.#members.get(part.limit.policy);
      if (!counted?.has(member)) member?.count('allowed', shadow);
      counted?.add(member);
      for (i += 1; i < parts.length && this.#keyOf(parts[i]!) === key; i += 1)
        cost = Math.max(cost, parts[i]!.cost);
      this.#counter.took(key, cost);
    }
  }

  /** The policies of a denied call are there, too: a request that one rule denied met the others. */
  #used(parts: readonly Part[], { policies }: Decision, shadow: boolean): void {
    for (let i = 0; i < parts.length; i += 1) {
      const part = parts[i]!;
      const { limit: most, remaining } = policies[i]!;
      const share = most > 0 ? Math.min(1, Math.max(0, (most - remaining) / most)) : 1;
      const counter = this.#keys === 'members' ? this.#members.get(part.limit.policy) : this.#counter;
      counter?.used(part.key, this.#policyOf(part), share, shadow);
    }
  }

  /** The name of the policy in its limiter; empty for a single policy. */
  #policyOf({ limit: { name, policy: member } }: Part): string {
    if (this.#keys === 'members') return name.slice(member.length + 1);
    return name === this.#counter.limiter ? '' : name;
  }

  #keyOf({ limit, key }: Part): string {
    return this.#keys === 'members' ? `${limit.policy} ${key}` : key;
  }
}
