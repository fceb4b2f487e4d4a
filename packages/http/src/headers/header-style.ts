import type { Decision, PolicyDecision } from '@sluice/core';
import { describe, hashStoredKey } from '@sluice/core/internal';
import type { Keys } from '../request-limit-options.js';
import { draft11Items, type PartitionOf, rateLimit, rateLimitPolicy } from './decision-headers.js';
import type { HeaderOptions, HeaderStyle } from './header-options.js';
import { extended, type ListHeaders } from './response-headers.js';
import {
  quotaPolicies,
  type WriteOlder,
  writeDraft6,
  writeDraft7,
  writeLegacy,
  writeRetryAfter,
} from './single-policy.js';

export interface HeaderWriter {
  /** Adds this decision's headers to a response, merged with those of earlier limiters. */
  write(decision: Decision, response: ListHeaders, key?: Keys): void;
  /** The same headers by their names, for errors. */
  of(decision: Decision, key?: Keys): Record<string, string>;
}

const STYLES = ['draft-11', 'draft-8', 'draft-7', 'draft-6'] as const;

/**
 * Creates what writes the headers of one limit's decisions.
 * @param where names the place of the options in errors, such as `rateLimit`
 * @throws TypeError, RangeError naming the invalid option
 */
export function headerWriter(where: string, options: HeaderOptions): HeaderWriter {
  const { standardHeaders = 'draft-11', legacyHeaders: legacy, partitionKey: partitioned } = options;
  const style = checkStyle(where, standardHeaders);
  const isList = style === 'draft-11' || style === 'draft-8';
  if (partitioned && !isList) {
    throw new TypeError(
      `${where}: partitionKey has no effect with standardHeaders ${describe(standardHeaders)}: ` +
        "use 'draft-11' or omit partitionKey",
    );
  }
  const itemsOf = isList ? oncePerPolicies(draft11Items) : undefined;
  const quotasOf = oncePerPolicies(quotaPolicies);
  const writeOlder: WriteOlder | undefined =
    style === 'draft-7' ? writeDraft7 : style === 'draft-6' ? writeDraft6 : undefined;
  const write: HeaderWriter['write'] = (decision, response, key) => {
    if (itemsOf !== undefined) {
      const items = itemsOf(decision);
      const partition = partitioned && key !== undefined ? partitionOf(key) : undefined;
      response.append('RateLimit-Policy', rateLimitPolicy(decision, items, partition));
      response.append('RateLimit', rateLimit(decision, items, partition));
    }
    writeOlder?.(decision, response, quotasOf(decision));
    if (legacy) writeLegacy(decision, response);
    if (!decision.allowed) writeRetryAfter(decision, response);
  };
  return {
    write,
    of: (decision, key) => {
      const headers: Record<string, string> = {};
      const get = (name: string) => headers[name];
      const set = (name: string, value: string) => {
        headers[name] = value;
      };
      write(decision, { get, set, append: (name, items) => set(name, extended(get(name), items)) }, key);
      return headers;
    },
  };
}

interface Entry<T> {
  readonly name: string;
  readonly policies: readonly PolicyDecision[];
  readonly made: T;
}

/** Sets of policies that one limit uses in turn, such as those of guests and of paying users. */
const MAX_ENTRIES = 8;

/** Caches what depends on a limiter's policies alone, and not on what is left of them: most limiters never have another set. */
function oncePerPolicies<T>(make: (decision: Decision) => T): (decision: Decision) => T {
  const entries: Entry<T>[] = [];
  let next = 0;
  return (decision) => {
    const { name, policies } = decision;
    for (const entry of entries) {
      if (entry.name === name && samePolicies(entry.policies, policies)) return entry.made;
    }
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
    if (
      one.name !== other.name ||
      one.limit !== other.limit ||
      one.window !== other.window ||
      one.held !== other.held
    )
      return false;
  }
  return true;
}

function checkStyle(where: string, given: unknown): HeaderStyle | undefined {
  if (given === false) return undefined;
  if (given === true) return 'draft-6';
  const style = STYLES.find((one) => one === given);
  if (style !== undefined) return style;
  throw new RangeError(
    `${where}: standardHeaders must be one of ${STYLES.join(', ')}, true or false, not ${describe(given)}`,
  );
}

/**
 * The parameter `pk`: the first 12 bytes of the SHA-256 of the key, as an RFC 9651 byte sequence. Each of several limits has
 * the parameter of its own key.
 */
function partitionOf(keys: Keys): PartitionOf {
  if (typeof keys !== 'object') {
    const same = parameter(String(keys));
    return () => same;
  }
  const limits = Object.keys(keys);
  return (policy) => {
    // The policies of a limit with several are called perAccount.perMinute, perAccount.perDay.
    const limit = Object.hasOwn(keys, policy) ? policy : limits.find((one) => policy.startsWith(`${one}.`));
    return limit === undefined ? '' : parameter(String(keys[limit]));
  };
}

/** A byte sequence is plain base64, and a hashed key has `#` before base64url. */
const parameter = (text: string): string =>
  `;pk=:${hashStoredKey(text).slice(1).replaceAll('-', '+').replaceAll('_', '/')}:`;
