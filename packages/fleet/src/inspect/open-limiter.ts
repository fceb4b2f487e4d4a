import { RateLimiter, type RateLimiterOptions, type Store } from '@sluice/core';
import { checkLimiterOptions, deciderOf, type LimiterDefinition } from '@sluice/core/internal';

/** How long a tool waits for the store. */
const DEADLINE = '2s';

/**
 * A limiter that another process made, for tools that change its keys. It is not made known itself, caches no denials, and decides nothing
 * while the store is out. Close it after use.
 * @throws TypeError for a `shared` or `combined` limiter, which has no keys of its own; RangeError if this version stores keys elsewhere
 */
export function openLimiter(store: Store, definition: LimiterDefinition): RateLimiter {
  const { kind, name, keyPrefix, hashTag, policies, several, prefixes, escalate } = definition;
  if (Object.keys(policies).length === 0) {
    throw new TypeError(`openLimiter: limiter '${name}' (${kind}) has no keys of its own`);
  }
  const base = {
    name,
    keyPrefix,
    hashTag,
    store,
    deadline: DEADLINE,
    denyCache: false,
    failurePolicy: 'deny',
    escalate,
  } as const;
  const options: RateLimiterOptions = several ? { ...base, policies } : { ...base, policy: policies[name]! };
  const limiter = new RateLimiter(options, deciderOf(store, checkLimiterOptions(options)));
  const own = RateLimiter.internals(limiter).limits.definition('limiter').prefixes;
  const elsewhere = Object.keys(own).find((policy) => own[policy] !== prefixes[policy]);
  if (elsewhere === undefined) return limiter;
  throw new RangeError(
    `openLimiter: limiter '${name}' stores its keys at ${prefixes[elsewhere]}, and this version at ${own[elsewhere]}: use the same version`,
  );
}
