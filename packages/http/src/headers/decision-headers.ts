import type { Decision, PolicyDecision } from '@sluice/core';
import { publicName } from '@sluice/core/internal';
import { before, DRAFT_11 } from './draft-11.js';

/** A response's headers as its framework reads and writes them. */
export interface ResponseHeaders {
  get(name: string): unknown;
  set(name: string, value: string): void;
}

/** The same, with headers that are lists. */
export interface ListHeaders extends ResponseHeaders {
  append(name: string, items: string): void;
}

/** The largest integer of RFC 9651: 15 digits. */
const LARGEST = 999_999_999_999_999;

/** Permits as a whole number of at most 15 digits, rounded down; 0 for NaN. */
export const quantity = (permits: number): string =>
  permits > 0 ? String(Math.min(LARGEST, Math.floor(permits))) : '0';

/** Milliseconds as whole seconds, rounded up: never too early. */
export const seconds = (ms: number): string =>
  ms > 0 ? String(Math.min(LARGEST, Math.ceil(ms / 1000))) : '0';

/** The same, at least 1: no window and no wait is shorter. */
export const oneOrMoreSeconds = (ms: number): string => (ms > 1000 ? seconds(ms) : '1');

/**
 * Milliseconds until more quota is available. For a denial: until a retry can pass, as in `Retry-After`.
 * @param denied whether this policy denied the request
 */
export const untilMore = (retryAfter: number, moreAfter: number, denied: boolean): number =>
  denied && retryAfter > 0 && Number.isFinite(retryAfter) ? retryAfter : moreAfter;

/**
 * The name of a policy in a response: `login` for the only policy of limiter `login`, `api.perMinute` for one of several policies of
 * limiter `api`. So limiters with different names have different items in one response.
 */
export const policyName = ({ name }: Decision, policy: PolicyDecision): string =>
  policy.name === name ? publicName(name) : `${publicName(name)}.${policy.name}`;

/** Everything but printable ASCII, which an RFC 9651 string cannot hold. */
const UNPRINTABLE = /[^\x20-\x7e]+/g;
const escaped = (text: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** An RFC 9651 string. */
const string = (text: string) => `"${text.replace(UNPRINTABLE, escaped).replace(/["\\]/g, '\\$&')}"`;

const QUOTA = before('quota');
const WINDOW = before('window');
const HELD = `${before('unit')}"concurrent-requests"`;
const REMAINING = before('remaining');
const RESET = before('reset');

/** Parts of draft 11 that all decisions of one set of policies share; one item per policy. */
interface Draft11Items {
  /** The policies' names, as RFC 9651 strings. */
  readonly names: readonly string[];
  /** `"login";q=5;w=60`: q permits in w seconds. For held permits: `"exports";q=2;qu="concurrent-requests"`. */
  readonly quotas: readonly string[];
  /** `RateLimit-Policy` without partition keys. */
  readonly policy: string;
}

/** The parameter `pk` of the policy with this name, `;pk=:…:`, or an empty string. */
export type PartitionOf = (policy: string) => string;

function draft11Items(decision: Decision): Draft11Items {
  const names = decision.policies.map((policy) => string(policyName(decision, policy)));
  const quotas = decision.policies.map(({ limit, window, held }, i) => {
    const quota = `${names[i]}${QUOTA}${quantity(limit)}`;
    return held ? quota + HELD : `${quota}${WINDOW}${oneOrMoreSeconds(window)}`;
  });
  return { names, quotas, policy: quotas.join(', ') };
}

/**
 * `RateLimit` of draft-ietf-httpapi-ratelimit-headers-11: `"login";r=4;t=52`, r permits left, more in t seconds. One item per policy.
 * In a denial, t equals `Retry-After`. When held permits return is unknown, so an allowed request gets no t for them.
 */
function rateLimit(decision: Decision, { names }: Draft11Items, partitionOf?: PartitionOf): string {
  const { policies, policy: bound, allowed } = decision;
  let list = '';
  for (let i = 0; i < policies.length; i += 1) {
    const { name, remaining, held, retryAfter, moreAfter } = policies[i]!;
    const wait = !allowed && name === bound ? decision.retryAfter : retryAfter;
    const unknown = held && (allowed || retryAfter === 0);
    if (i > 0) list += ', ';
    list += `${names[i]}${REMAINING}${quantity(remaining)}`;
    if (!unknown) list += `${RESET}${seconds(untilMore(wait, moreAfter, !allowed))}`;
    if (partitionOf !== undefined) list += partitionOf(name);
  }
  return list;
}

/**
 * Creates what writes the headers of draft 11 for one limit.
 * @param partitionOf of the keys that a decision counts for
 */
export function draft11Writer<Keys>(partitionOf?: (keys: Keys) => PartitionOf) {
  const itemsOf = oncePerPolicies(draft11Items);
  return (decision: Decision, response: ListHeaders, keys?: Keys): void => {
    const items = itemsOf(decision);
    const partition = keys === undefined ? undefined : partitionOf?.(keys);
    const quotas = partition && decision.policies.map(({ name }, i) => items.quotas[i] + partition(name));
    response.append(DRAFT_11.policyHeader, quotas?.join(', ') ?? items.policy);
    response.append(DRAFT_11.stateHeader, rateLimit(decision, items, partition));
  };
}

/** Sets of policies that one limit uses in turn, such as those of guests and of paying users. */
const MAX_ENTRIES = 8;

/** Caches what depends on a limiter's policies alone, and not on the permits left: most limiters never have another set. */
export function oncePerPolicies<T>(make: (decision: Decision) => T): (decision: Decision) => T {
  const entries: { name: string; policies: readonly PolicyDecision[]; made: T }[] = [];
  let next = 0;
  return (decision) => {
    const { name, policies } = decision;
    for (const entry of entries)
      if (entry.name === name && samePolicies(entry.policies, policies)) return entry.made;
    const made = make(decision);
    entries[next] = { name, policies, made };
    next = (next + 1) % MAX_ENTRIES;
    return made;
  };
}

function samePolicies(some: readonly PolicyDecision[], others: readonly PolicyDecision[]): boolean {
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i += 1) {
    const [one, other] = [some[i]!, others[i]!];
    if (one.name !== other.name || one.limit !== other.limit) return false;
    if (one.window !== other.window || one.held !== other.held) return false;
  }
  return true;
}
