import type { Decision } from '../../limiter/decision.js';
import { draft6 } from './draft-6.js';
import { draft7 } from './draft-7.js';
import { draft11Items, type PartitionOf, rateLimit, rateLimitPolicy } from './draft-11.js';
import { legacy } from './legacy.js';
import { oncePerPolicies } from './policy-memory.js';
import { quotaPolicies } from './quota-policies.js';
import { isLater, retryAfter } from './retry-after.js';
import { isTighter, type LimitRemainingReset } from './tighter.js';
import { addToList, type ResponseHeaders } from './write-headers.js';

/** Writes the headers of one style. What a limiter's policies alone say is made once. */
type StyleWriter = (decision: Decision, response: ResponseHeaders, partitionOf?: PartitionOf) => void;

export function writeDraft11(): StyleWriter {
  const itemsOf = oncePerPolicies(draft11Items);
  return (decision, response, partitionOf) => {
    const items = itemsOf(decision);
    addToList(response, 'RateLimit-Policy', rateLimitPolicy(decision, items, partitionOf));
    addToList(response, 'RateLimit', rateLimit(decision, items, partitionOf));
  };
}

const NOTHING: readonly string[] = [];
const DRAFT_7 = /^limit=\d{1,15}, remaining=(\d{1,15}), reset=(\d{1,15})$/;

export function writeDraft7(): StyleWriter {
  const policyOf = oncePerPolicies(quotaPolicies);
  return (decision, response) => {
    addToList(response, 'RateLimit-Policy', policyOf(decision));
    const before = response.get('RateLimit');
    const [, remaining, reset] = typeof before === 'string' ? (DRAFT_7.exec(before) ?? NOTHING) : NOTHING;
    if (!isTighter(draft6(decision), { remaining, reset }, !decision.allowed, response)) return;
    response.set('RateLimit', draft7(decision));
  };
}

export function writeDraft6(): StyleWriter {
  const policyOf = oncePerPolicies(quotaPolicies);
  return (decision, response) => {
    addToList(response, 'RateLimit-Policy', policyOf(decision));
    writeThree('RateLimit', draft6(decision), decision, response);
  };
}

export function writeLegacy(decision: Decision, response: ResponseHeaders): void {
  writeThree('X-RateLimit', legacy(decision, Date.now()), decision, response);
}

/** Never before the moment that an earlier limiter has named. */
export function writeRetryAfter(decision: Decision, response: ResponseHeaders): void {
  const value = retryAfter(decision);
  if (value === undefined || isLater(response.get('Retry-After'), value, Date.now())) return;
  response.set('Retry-After', value);
}

function writeThree(
  prefix: 'RateLimit' | 'X-RateLimit',
  ours: LimitRemainingReset,
  { allowed }: Decision,
  response: ResponseHeaders,
): void {
  const [remaining, reset] = [response.get(`${prefix}-Remaining`), response.get(`${prefix}-Reset`)];
  if (!isTighter(ours, { remaining, reset }, !allowed, response)) return;
  response.set(`${prefix}-Limit`, ours.limit);
  response.set(`${prefix}-Remaining`, ours.remaining);
  response.set(`${prefix}-Reset`, ours.reset);
}
