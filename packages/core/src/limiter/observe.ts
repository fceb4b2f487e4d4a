import type { Answer, Decider } from '../call/call.js';
import type { Decision } from '../decision.js';
import type { PolicyParts } from '../pipeline/policy-limit.js';
import type { Store } from '../stores/store.js';
import type { TopKeys } from '../usage/top-keys.js';
import { CallUsage, type CountedKeys } from './call-usage.js';
import type { CallObserver } from './observer.js';
import { ThresholdWatch } from './threshold-watch.js';

/** A limiter that may be observed. */
export interface ObservedLimiter {
  readonly name: string;
  readonly decider: Decider;
  readonly keys: CountedKeys;
  /** Of a combination: the names of its limiters, by their names in it. */
  readonly members?: ReadonlyMap<string, string> | undefined;
  /** Has a policy thresholds to report? */
  readonly notifies: boolean;
}

/** What observes a limiter: what counts its calls, and what watches its thresholds. Undefined if nothing does. */
export function observerOf(
  store: Store,
  { name, decider, keys, members, notifies }: ObservedLimiter,
): CallObserver | undefined {
  const usage = CallUsage.of(store, name, keys, members);
  if (!notifies) return usage;
  const thresholds = new ThresholdWatch(store, decider);
  return usage === undefined ? thresholds : new Observers(usage, thresholds);
}

class Observers implements CallObserver {
  constructor(
    readonly usage: CallUsage,
    readonly thresholds: ThresholdWatch,
  ) {}

  decided(call: PolicyParts, decision: Decision, answer: Answer, shadow: boolean): void {
    this.usage.decided(call, decision, answer, shadow);
    this.thresholds.decided(call, decision, answer, shadow);
  }

  failed(call: PolicyParts, error: unknown, shadow: boolean, canceled: boolean): void {
    this.usage.failed(call, error, shadow, canceled);
  }

  charged(call: PolicyParts, answer: Answer): void {
    this.thresholds.charged(call, answer);
  }

  topKeys(): TopKeys {
    return this.usage.topKeys();
  }
}
