import { randomUUID } from '#platform';
import { MAX_LIMIT, slidingLogAlgorithm } from '../algorithms/sliding-log/sliding-log.js';
import { NO_POLICIES } from '../board/definition.js';
import { announce } from '../board/definitions.js';
import { type Decider, KeyCall, type Part } from '../call/call.js';
import { BookingRules, type Limit } from '../call/limit.js';
import type { Decision } from '../decision.js';
import { type Duration, MAX_MICROS, toMicros } from '../duration.js';
import { isRateLimitExceededError, isRateNotSetError } from '../errors.js';
import { Admission } from '../limiter/admission.js';
import { type WaitOptions, waitOptions } from '../limiter/call-options.js';
import { checkDeadline, checkStore, checkWaiting, deciderOf } from '../limiter/limiter-options.js';
import { LAYOUT } from '../limiter/limits.js';
import { observerOf } from '../limiter/observer.js';
import { checkInteger, checkName, checkOneOf, checkOptions, describe } from '../options.js';
import type { RateAnswer, RateChange, StoredRate } from '../stores/shared-rate.js';
import type { SharedRateFacet, Store } from '../stores/store.js';

/** A rate as `trySetRate`, `setRate` and `updateRate` take it. */
export interface SharedRate {
  /** `'OVERALL'` (default): all clients share the rate; `'PER_CLIENT'`: each client has the whole rate. */
  readonly mode?: 'OVERALL' | 'PER_CLIENT';
  /**
   * Permits in any `interval`: a whole number from 1 to 2^53 - 1. Up to 10,000, each call of the interval is stored in 16 bytes, and
   * its permits return to the microsecond. Above 10,000 the calls of a thousandth of the interval are stored together: a permit
   * returns up to that much later.
   */
  readonly rate: number;
  /** The time in which `rate` permits may go. */
  readonly interval: Duration;
  /** How long the rate is kept after its last use, at least `interval`; default ten years. */
  readonly keepAliveTime?: Duration;
}

/** The current shared rate; times in milliseconds. */
export interface SharedRateConfig {
  readonly mode: 'OVERALL' | 'PER_CLIENT';
  readonly rate: number;
  readonly interval: number;
  readonly keepAliveTime: number;
}

/** The options of `SharedLimiter`. */
export interface SharedLimiterOptions {
  /** Names the limit for the whole fleet. Letters, digits and `. _ - : / @ #`. */
  readonly name: string;
  /** Where the rate and the counts live. You close it. */
  readonly store: Store;
  /** Id of this client in the mode `'PER_CLIENT'`; default: one random id for each store object, and so for each process. */
  readonly clientId?: string;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string;
  /** How long the answer of a remote store may take; default 100 ms, of a file 1 s. */
  readonly deadline?: Duration;
  /** How much later than its permits are back a waiting call passes; default 0. See `RateLimiterOptions`. */
  readonly margin?: Duration;
  /** The most calls that wait at once, of all processes together: from 0 to 1000, the default. */
  readonly maxWaiting?: number;
}

const OPTIONS = ['name', 'store', 'clientId', 'keyPrefix', 'deadline', 'margin', 'maxWaiting'];

/** Default client ids, by store. A store may be an object of the user, so it has no field for this. */
const clientIds = new WeakMap<Store, string>();

/**
 * A named limit whose rate is stored, like Redisson's RRateLimiter: a change of the rate applies to the whole fleet, from each process's
 * next call on. At most `rate` permits in ANY `interval` (a `slidingLog`). See `docs/shared-limits.md`.
 */
export class SharedLimiter {
  readonly name: string;
  readonly #decider: Decider & SharedRateFacet;
  readonly #admission: Admission;
  readonly #limit: Limit;
  readonly #config: string;
  readonly #endUse: () => void;

  /** @throws TypeError, RangeError naming the invalid option. Does no I/O. */
  constructor(options: SharedLimiterOptions) {
    checkOptions('SharedLimiter', options, OPTIONS);
    const { name, store, keyPrefix = 'sluice', margin = 0, maxWaiting } = options;
    checkName('SharedLimiter: name', name);
    checkName('SharedLimiter: keyPrefix', keyPrefix);
    checkStore('SharedLimiter', store);
    if (typeof store.rate !== 'function') {
      throw new TypeError(
        `SharedLimiter: store ${describe(store.name)} has no rate(), so it cannot keep a shared rate. Use memoryStore() or redisStore(…)`,
      );
    }
    const clientId = options.clientId ?? clientIds.get(store) ?? randomUUID();
    checkName('SharedLimiter: clientId', clientId);
    if (options.clientId === undefined) clientIds.set(store, clientId);
    this.name = name;
    const deadline = checkDeadline('SharedLimiter', options.deadline, store);
    this.#decider = deciderOf(store as Store & SharedRateFacet, { deadline, denyCache: 0 });
    const decider = this.#decider;
    const observer = observerOf(store, { name, decider, keys: 'none', notifies: false });
    this.#admission = new Admission(name, decider, observer);
    const prefix = `${keyPrefix}:${LAYOUT}:shared:{${name}}`;
    this.#config = `${prefix}:rate`;
    const shared = { name, config: this.#config, client: `${prefix}:client:${clientId}` };
    const definition = { kind: 'shared', name, keyPrefix, ...NO_POLICIES, rate: this.#config } as const;
    this.#endUse = announce(store.fleet, LAYOUT, JSON.stringify(definition), () => definition);
    const waiting = new BookingRules(UNKNOWN, checkWaiting('SharedLimiter', { margin, maxWaiting }));
    this.#limit = { name, policy: name, rule: UNKNOWN, prefix: `${prefix}:`, suffix: '', shared, waiting };
  }

  /**
   * Sets the rate if none is set. Resolves to whether it did.
   * @throws TypeError, RangeError naming the invalid option; StoreUnavailableError, StoreConfigurationError, LimiterClosedError
   */
  async trySetRate(rate: SharedRate): Promise<boolean> {
    return (await this.#set('try', rate)).changed;
  }

  /** Sets the rate. Permits taken under the previous rate no longer count. @throws as `trySetRate` does */
  async setRate(rate: SharedRate): Promise<void> {
    await this.#set('set', rate);
  }

  /** Changes the rate. Permits already taken still count. Resolves to false if no rate is set. @throws as `trySetRate` does */
  async updateRate(rate: SharedRate): Promise<boolean> {
    return (await this.#set('update', rate)).changed;
  }

  /** The current rate; undefined if none is set. @throws as `trySetRate` does */
  async getConfig(): Promise<SharedRateConfig | undefined> {
    const { rate } = await this.#change({ action: 'get', key: this.#config });
    if (rate === undefined) return undefined;
    const { limit, window } = slidingLogAlgorithm.figures.size(rate.parameters);
    const mode = rate.perClient === 1 ? 'PER_CLIENT' : 'OVERALL';
    return { mode, rate: limit, interval: window / 1000, keepAliveTime: rate.keepAlive / 1000 };
  }

  /** Permits that could be taken now. @throws RateNotSetError */
  async availablePermits(): Promise<number> {
    return (await this.#admission.admit(KeyCall.of({ operation: 'peek', wait: 0, parts: this.#parts(1) })))
      .remaining;
  }

  /**
   * Takes permits, waiting at most `timeout`. Resolves to whether it took them: false at once if the wait would be longer.
   * @throws RateNotSetError; RateLimitExceededError for more permits than the rate, which are never free at once
   */
  async tryAcquire(permits = 1, timeout: Duration = 0): Promise<boolean> {
    try {
      await this.#acquire('tryAcquire', permits, { timeout });
      return true;
    } catch (error) {
      // False would make the caller retry without end.
      if (isRateLimitExceededError(error) && error.retryAfter < Number.POSITIVE_INFINITY) return false;
      throw error;
    }
  }

  /** Takes permits, waiting as long as necessary. @throws RateNotSetError; all errors of `RateLimiter.acquire` */
  acquire(permits = 1, options: WaitOptions = {}): Promise<Decision> {
    return this.#acquire('acquire', permits, options);
  }

  /** Returns the permits of a decision, once. Does nothing if the rate was deleted, and all permits with it. @throws as `RateLimiter.refund` does */
  async refund(decision: Decision): Promise<void> {
    try {
      await this.#admission.refunds.refund(decision, 'refund');
    } catch (error) {
      if (!isRateNotSetError(error)) throw error;
    }
  }

  /** Deletes the rate and forgets all permits taken. Resolves to whether there was a rate. @throws as `trySetRate` does */
  async delete(): Promise<boolean> {
    return (await this.#change({ action: 'delete', key: this.#config })).changed;
  }

  /** Rejects all waiting calls with a `LimiterClosedError`, and returns their permits. The rate stays. */
  async close(): Promise<void> {
    this.#endUse();
    await this.#admission.close();
  }

  async #acquire(method: string, permits: number, options: WaitOptions): Promise<Decision> {
    checkOptions(method, options, ['timeout', 'signal']);
    const parts = this.#parts(checkInteger(`${method}: permits`, permits, 1));
    return this.#admission.acquire(parts, waitOptions(method, options));
  }

  #parts(cost: number): Part[] {
    return [{ limit: this.#limit, key: ALL, cost, at: 0 }];
  }

  async #set(action: keyof typeof METHODS, rate: SharedRate): Promise<RateAnswer> {
    return this.#change({ action, key: this.#config, rate: storedRate(action, rate) });
  }

  async #change(change: RateChange): Promise<RateAnswer> {
    this.#admission.checkOpen();
    return this.#decider.rate(change);
  }
}

/** Where the state of all clients is stored. */
const ALL = 'all';

/** Only the store knows the rate; each answer contains it. */
const UNKNOWN = { algorithm: slidingLogAlgorithm, parameters: [], limit: 0, window: 0 };

/** Slots per interval, for a rate too large to store each call. */
const SLOTS = 1000;

const METHODS = { try: 'trySetRate', set: 'setRate', update: 'updateRate' } as const;

/** @throws TypeError, RangeError naming the invalid option */
function storedRate(action: keyof typeof METHODS, options: SharedRate): StoredRate {
  const where = METHODS[action];
  checkOptions(where, options, ['mode', 'rate', 'interval', 'keepAliveTime']);
  const { mode = 'OVERALL', rate, interval, keepAliveTime = '3650d' } = options;
  checkOneOf(`${where}: mode`, mode, ['OVERALL', 'PER_CLIENT']);
  const limit = checkInteger(`${where}: rate`, rate, 1);
  const window = toMicros(`${where}: interval`, interval);
  // Each call is stored, or the calls of a slot together.
  const slot = limit <= MAX_LIMIT ? 0 : Math.ceil(window / SLOTS);
  if (window + slot > MAX_MICROS) {
    throw new RangeError(
      `${where}: with a rate above ${MAX_LIMIT} the interval and a thousandth of it must be at most 3650 days together; use a shorter interval`,
    );
  }
  const parameters = slot === 0 ? [limit, window] : [limit, window, slot];
  const keepAlive = toMicros(`${where}: keepAliveTime`, keepAliveTime);
  if (keepAlive < window) {
    throw new RangeError(
      `${where}: keepAliveTime ${describe(keepAliveTime)} must be at least the interval: a rate that expires earlier starts again with all permits`,
    );
  }
  return { keepAlive, perClient: mode === 'PER_CLIENT' ? 1 : 0, parameters };
}
