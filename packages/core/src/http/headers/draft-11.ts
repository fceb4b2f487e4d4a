import type { Decision } from '../../limiter/decision.js';
import { oneOrMoreSeconds, quantity, seconds, untilMore } from './numbers.js';
import { policyName } from './policy-name.js';

/** What an RFC 9651 string cannot hold: anything but printable ASCII. */
const UNPRINTABLE = /[^\x20-\x7e]+/g;
const escaped = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');

/** An RFC 9651 string. */
const string = (text: string) => `"${text.replace(UNPRINTABLE, escaped).replace(/["\\]/g, '\\$&')}"`;

/** What is the same for all decisions of one set of policies; an item for each policy. */
export interface Draft11Items {
  /** Their names, as RFC 9651 strings. */
  readonly names: readonly string[];
  /** `"login";q=5;w=60`: q permits in w seconds. For held permits: `"exports";q=2;qu="concurrent-requests"`. */
  readonly quotas: readonly string[];
  /** The whole of `RateLimit-Policy`, when there are no partition keys. */
  readonly policy: string;
}

/** The parameter `pk` for the policy of this name, `;pk=:…:`, or nothing. */
export type PartitionOf = (policy: string) => string;

export function draft11Items(decision: Decision): Draft11Items {
  const names = decision.policies.map((policy) => string(policyName(decision, policy)));
  const quotas = decision.policies.map(({ limit, window, held }, i) => {
    const quota = `${names[i]};q=${quantity(limit)}`;
    return held ? `${quota};qu="concurrent-requests"` : `${quota};w=${oneOrMoreSeconds(window)}`;
  });
  return { names, quotas, policy: quotas.join(', ') };
}

/** `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11: `"login";q=5;w=60`, one item for each policy. */
export const rateLimitPolicy = (
  { policies }: Decision,
  { quotas, policy }: Draft11Items,
  partitionOf?: PartitionOf,
): string =>
  partitionOf === undefined
    ? policy
    : policies.map(({ name }, i) => quotas[i] + partitionOf(name)).join(', ');

/**
 * `RateLimit` of the same draft: `"login";r=4;t=52`, r permits left, more in t seconds. One item per policy. In a denial, t equals
 * `Retry-After`. Nobody knows when held permits return, so an allowed request gets no t for them.
 */
export function rateLimit(decision: Decision, { names }: Draft11Items, partitionOf?: PartitionOf): string {
  const { policies, policy: bound, allowed } = decision;
  let list = '';
  for (let i = 0; i < policies.length; i += 1) {
    const policy = policies[i]!;
    const { name, remaining, held } = policy;
    const more = untilMore(
      !allowed && name === bound ? { ...policy, retryAfter: decision.retryAfter } : policy,
      !allowed,
    );
    const unknown = held && (allowed || policy.retryAfter === 0);
    const item = `${names[i]};r=${quantity(remaining)}${unknown ? '' : `;t=${seconds(more)}`}`;
    list += (i > 0 ? ', ' : '') + item + (partitionOf === undefined ? '' : partitionOf(name));
  }
  return list;
}
