import { compilePolicy } from '../algorithms/index.js';
import type { ConsumeOptions } from '../limiter/call-options.js';
import type { CombinedLimiter } from '../limiter/combined-limiter.js';
import type { Decision } from '../limiter/decision.js';
import { RateLimiter } from '../limiter/rate-limiter.js';
import type { MaybePromise } from '../maybe-promise.js';
import { describe } from '../options.js';
import type { Keys } from './key-of-request.js';

/** A limiter as requests need it. */
export interface Limited {
  readonly limiter: RateLimiter | CombinedLimiter;
  /** Its `consume`, at once where that needs no promise. It refuses the keys of the other kind of limiter. */
  consume(keys: Keys, options?: ConsumeOptions): MaybePromise<Decision>;
  /** Itself by its name, or those that it combines by theirs. */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  /** Of its policies, or of the limiters that it combines: costs are given by these. */
  readonly names: readonly string[];
  /** Does a request hold permits for as long as it is served? */
  readonly holds: boolean;
}

export function limitedBy(limiter: RateLimiter | CombinedLimiter): Limited {
  const combines = 'limiters' in limiter;
  const limiters = combines ? limiter.limiters : { [limiter.name]: limiter };
  const policies = Object.values(limiters).flatMap((each) => Object.values(each.policies));
  return {
    limiter,
    consume:
      limiter instanceof RateLimiter ? RateLimiter.inside(limiter).consume : limiter.consume.bind(limiter),
    limiters,
    names: Object.keys(combines ? limiters : limiter.policies),
    // No algorithm is known by name here: what has holders is held.
    holds: policies.some((policy) => compilePolicy(policy).algorithm.holders !== undefined),
  };
}

/** Not instanceof: it may come from the other copy of this package, ESM beside CJS. */
export function checkLimiter(where: string, limiter: object | null, hasKeyGenerator: boolean): void {
  const { consume, release, policies, limiters } = (limiter ?? {}) as Partial<RateLimiter & CombinedLimiter>;
  const works = typeof consume === 'function' && typeof release === 'function';
  if (!works || (typeof policies !== 'object' && typeof limiters !== 'object')) {
    throw new TypeError(
      `${where}: limiter must be a RateLimiter or a CombinedLimiter, not ${describe(limiter)}`,
    );
  }
  if (limiters !== undefined && !hasKeyGenerator) {
    const keys = Object.keys(limiters).map((name) => `${name}: …`);
    throw new TypeError(
      `${where}: a CombinedLimiter needs a keyGenerator that gives a key for each of its limiters: ` +
        `keyGenerator: (…) => ({ ${keys.join(', ')} })`,
    );
  }
}
