import type { Answer, Decision, Store, TopKeys } from '@sluice/core';
import type { CallObserver, CallParts, ObservedLimiter } from '@sluice/core/internal';
import { ThresholdWatch } from './thresholds/threshold-watch.js';
import { CallUsage } from './usage/call-usage.js';
import type { StoreUsage } from './usage/store-usage.js';

/** What observes a limiter: what counts its calls, what watches its thresholds, or both. */
export function observe(store: Store, limiter: ObservedLimiter): CallObserver {
  const usage = store.usage && new CallUsage(store.usage as StoreUsage, limiter);
  const thresholds = limiter.notifies ? new ThresholdWatch(store, limiter.decider) : undefined;
  if (usage !== undefined && thresholds !== undefined) return new Observers(usage, thresholds);
  return (usage ?? thresholds)!;
}

class Observers implements CallObserver {
  constructor(
    readonly usage: CallUsage,
    readonly thresholds: ThresholdWatch,
  ) {}

  decided(call: CallParts, decision: Decision, answer: Answer, shadow: boolean): void {
    this.usage.decided(call, decision, answer, shadow);
    this.thresholds.decided(call, decision, answer, shadow);
  }

  failed(call: CallParts, error: unknown, shadow: boolean, canceled: boolean): void {
    this.usage.failed(call, error, shadow, canceled);
  }

  charged(call: CallParts, answer: Answer): void {
    this.thresholds.charged(call, answer);
  }

  topKeys(): TopKeys {
    return this.usage.topKeys();
  }
}
