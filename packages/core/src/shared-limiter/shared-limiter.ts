import { randomUUID } from 'node:crypto';
import { slidingLogAlgorithm } from '../algorithms/sliding-log/sliding-log.js';
import { type Duration, toMicros } from '../duration.js';
import { isRateLimitExceededError, isRateNotSetError } from '../errors.js';
import { Admission } from '../limiter/admission.js';
import { patienceOption, type WaitOptions } from '../limiter/call-options.js';
import type { Decision } from '../limiter/decision.js';
import { checkStore } from '../limiter/limiter-options.js';
import { LAYOUT } from '../limiter/limits.js';
import { checkInteger, checkName, checkOptions, describe } from '../options.js';
import type { PolicyLimit, PolicyPart } from '../pipeline/policy-limit.js';
import { withResilience } from '../pipeline/resilience.js';
import type { Store } from '../stores/store.js';
import type { RateAnswer, RateChange } from './rate-change.js';
import { configOf, type SharedRate, type SharedRateConfig, storedRate } from './rate-options.js';

export interface SharedLimiterOptions {
  /** Names the limit for the whole fleet. Letters, digits and `. _ - : / @ #`. */
  readonly name: string;
  readonly store: Store;
  /** Who this is in the mode `'PER_CLIENT'`; default: one random id for each store object, and so for each process. */
  readonly clientId?: string;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string;
  /** How long the answer of a remote store may take; default 100 ms. */
  readonly deadline?: Duration;
}

const clients = new WeakMap<Store, string>();

/**
 * A named limit whose rate lives in the store, as Redisson's RRateLimiter has it: whoever sets it sets it for the whole fleet, and each
 * process knows at its next call. At most `rate` permits in ANY `interval` (a `slidingLog`). See `docs/shared-limits.md`.
 */
export class SharedLimiter {
  readonly name: string;
  readonly #store: Store;
  readonly #admission: Admission;
  readonly #limit: PolicyLimit;
  /** Where the state of all clients is stored. */
  readonly #key: string;
  readonly #config: string;

  /** @throws TypeError, RangeError naming the option that is wrong. Does no I/O. */
  constructor(options: SharedLimiterOptions) {
    checkOptions('SharedLimiter', options, ['name', 'store', 'clientId', 'keyPrefix', 'deadline']);
    const { name, store, keyPrefix = 'sluice', deadline = 100 } = options;
    checkName('SharedLimiter: name', name);
    checkName('SharedLimiter: keyPrefix', keyPrefix);
    checkStore('SharedLimiter', store);
    if (typeof store.rate !== 'function') {
      throw new TypeError(
        `SharedLimiter: store ${describe(store.name)} has no rate(): it keeps no rates that are shared`,
      );
    }
    const clientId = options.clientId ?? clients.get(store) ?? randomUUID();
    checkName('SharedLimiter: clientId', clientId);
    if (options.clientId === undefined) clients.set(store, clientId);
    this.name = name;
    this.#store = withResilience(store, toMicros('SharedLimiter: deadline', deadline));
    this.#admission = new Admission(name, this.#store);
    const prefix = `${keyPrefix}:${LAYOUT}:shared:{${name}}`;
    this.#key = `${prefix}:all`;
    this.#config = `${prefix}:rate`;
    const shared = { name, config: this.#config, client: `${prefix}:client:${clientId}` };
    this.#limit = { name, policy: name, rule: UNKNOWN, prefix: '', suffix: '', shared };
  }

  /** Sets the rate if there is none yet. Resolves to whether it did. */
  async trySetRate(rate: SharedRate): Promise<boolean> {
    return (await this.#set('try', rate)).changed;
  }

  /** Sets the rate; what was taken under the rate before counts no more. */
  async setRate(rate: SharedRate): Promise<void> {
    await this.#set('set', rate);
  }

  /** Changes the rate; what was taken counts on. Resolves to false when there is none to change. */
  async updateRate(rate: SharedRate): Promise<boolean> {
    return (await this.#set('update', rate)).changed;
  }

  /** The rate that holds now; undefined when none is set. */
  async getConfig(): Promise<SharedRateConfig | undefined> {
    const { rate } = await this.#change({ action: 'get', key: this.#config });
    return rate && configOf(rate);
  }

  /** Permits that could be taken now. @throws RateNotSetError */
  async availablePermits(): Promise<number> {
    return (await this.#admission.decide('peek', this.#parts(1))).remaining;
  }

  /**
   * Takes permits, waiting for them no longer than `timeout`. Resolves to whether it has them: false at once when the wait would be
   * longer. @throws RateNotSetError; RateLimitExceededError for more permits than the rate, which can never be had at once
   */
  async tryAcquire(permits = 1, timeout: Duration = 0): Promise<boolean> {
    try {
      await this.#acquire('tryAcquire', permits, { timeout });
      return true;
    } catch (error) {
      // Who is told "not now" asks again: for ever, if it can never be.
      if (isRateLimitExceededError(error) && error.retryAfter < Number.POSITIVE_INFINITY) return false;
      throw error;
    }
  }

  /** Takes permits, waiting as long as it takes. @throws RateNotSetError, and what `RateLimiter.acquire` throws */
  acquire(permits = 1, options: WaitOptions = {}): Promise<Decision> {
    return this.#acquire('acquire', permits, options);
  }

  /** Gives back what a decision took. Nothing when the rate is gone, and all that was taken with it. */
  async refund(decision: Decision): Promise<void> {
    try {
      await this.#admission.refund(decision);
    } catch (error) {
      if (!isRateNotSetError(error)) throw error;
    }
  }

  /** Forgets the rate and all that was taken. Resolves to whether there was a rate. */
  async delete(): Promise<boolean> {
    return (await this.#change({ action: 'delete', key: this.#config })).changed;
  }

  /** Ends all waits with a `LimiterClosedError`, and gives their permits back. The rate stays. */
  async close(): Promise<void> {
    await this.#admission.close();
  }

  async #acquire(method: string, permits: number, options: WaitOptions): Promise<Decision> {
    checkOptions(method, options, ['timeout', 'signal']);
    const parts = this.#parts(checkInteger(`${method}: permits`, permits, 1));
    return this.#admission.acquire(parts, patienceOption(method, options));
  }

  #parts(cost: number): PolicyPart[] {
    return [{ limit: this.#limit, key: this.#key, cost, at: 0 }];
  }

  async #set(action: 'try' | 'set' | 'update', rate: SharedRate): Promise<RateAnswer> {
    return this.#change({ action, key: this.#config, rate: storedRate(action, rate) });
  }

  async #change(change: RateChange): Promise<RateAnswer> {
    this.#admission.checkOpen();
    return this.#store.rate(change);
  }
}

/** The rate is in the store: what it says is in each answer. */
const UNKNOWN = { algorithm: slidingLogAlgorithm, parameters: [], limit: 0, window: 0 };
