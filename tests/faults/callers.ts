import { performance } from 'node:perf_hooks';
import {
  type Decision,
  type FailurePolicy,
  isStoreUnavailableError,
  RateLimiter,
  type RateLimiterOptions,
  type UnavailableReason,
} from '../../packages/core/src/index.js';
import { uniqueName } from '../support/redis-url.js';
import { rethrow } from '../support/rethrow.js';
import { eventually, LIMIT, rejection } from './own-redis.js';

const POLICIES = { local: 'local', allow: 'allow', deny: 'deny', thrown: rethrow } satisfies Record<
  string,
  FailurePolicy
>;
type Name = keyof typeof POLICIES;
const NAMES = Object.keys(POLICIES) as Name[];

const ANSWERS = {
  local: { allowed: true, degraded: true, source: 'local' },
  allow: { allowed: true, degraded: true, source: 'allow' },
  deny: { allowed: false, degraded: true, source: 'deny' },
};

/** A limiter for each failure policy, all on one store and with a limit of `LIMIT`. */
export class Callers {
  readonly limiters: Readonly<Record<Name, RateLimiter>>;
  readonly #reasons: readonly UnavailableReason[];

  /** @param reasons calls fail with one of them while the store is out */
  constructor(
    options: (limit: number) => Omit<RateLimiterOptions, 'name' | 'failurePolicy'>,
    reasons: readonly UnavailableReason[],
  ) {
    const limiter = (failurePolicy: FailurePolicy) =>
      new RateLimiter({ ...options(LIMIT), name: uniqueName('outage'), failurePolicy } as RateLimiterOptions);
    this.limiters = Object.fromEntries(NAMES.map((name) => [name, limiter(POLICIES[name])])) as Record<
      Name,
      RateLimiter
    >;
    this.#reasons = [...reasons, 'timeout']; // a busy machine may be late
  }

  /** While the store is available. */
  async consume(key: string): Promise<void> {
    for (const name of NAMES) await fromRedis(() => this.limiters[name].consume(key));
  }

  /**
   * Calls one limiter and expects the answer of its policy.
   * @param turn selects the limiter: one after the other
   * @returns the duration, ms
   */
  async ask(turn: number, key: string): Promise<number> {
    const name = NAMES[turn % NAMES.length]!;
    const start = performance.now();
    if (name === 'thrown') {
      const error = await rejection(this.limiters.thrown.consume(key));
      const isExpected = isStoreUnavailableError(error) && this.#reasons.includes(error.reason);
      expect(isExpected ? 'expected' : error).toBe('expected');
    } else {
      expect(await this.limiters[name].consume(key)).toMatchObject(ANSWERS[name]);
    }
    return performance.now() - start;
  }

  /** A policy answers decisions only. */
  async refusesTheRest(key: string): Promise<void> {
    const { local, allow, deny } = this.limiters;
    for (const call of [deny.acquire(key), allow.reset(key), local.penalty(key)]) {
      const error = await rejection(call);
      expect(isStoreUnavailableError(error) ? 'unavailable' : error).toBe('unavailable');
    }
  }

  /** The permits that Redis has counted at a key for all limiters. */
  async counted(key: string): Promise<number> {
    let sum = 0;
    for (const name of NAMES) {
      sum += LIMIT - (await fromRedis(() => this.limiters[name].peek(key))).remaining;
    }
    return sum;
  }
}

/** A decision of Redis, however long it takes on a busy machine. */
export const fromRedis = (ask: () => Promise<Decision>): Promise<Decision> =>
  eventually(async () => {
    const decision = await ask();
    if (decision.source !== 'redis') throw new Error(`decided by ${decision.source}`);
    return decision;
  });
