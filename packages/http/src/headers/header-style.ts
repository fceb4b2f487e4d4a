import type { Decision } from '@sluice/core';
import { checkOneOf, describe, hashStoredKey } from '@sluice/core/internal';
import type { Keys, RequestLimitOptions } from '../request-limit-options.js';
import { draft11Writer, type ListHeaders, oncePerPolicies, type PartitionOf } from './decision-headers.js';
import { before } from './draft-11.js';
import { quotaPolicies, type WriteOlder, writeDraft6, writeDraft7, writeLegacy } from './single-policy.js';

/** Adds a decision's headers to a response, merged with those of earlier limiters. `writeRetryAfter` adds `Retry-After` of a denial. */
export type WriteHeaders = (decision: Decision, response: ListHeaders, key?: Keys) => void;

const STYLES = ['draft-11', 'draft-8', 'draft-7', 'draft-6'] as const;

/** Creates what writes the headers of one limit's decisions. */
export function headerWriter(where: string, options: RequestLimitOptions<never>): WriteHeaders {
  const { standardHeaders = 'draft-11', legacyHeaders: legacy, partitionKey: partitioned } = options;
  const given = standardHeaders === true ? 'draft-6' : standardHeaders;
  const style = given !== false && checkOneOf(`${where}: standardHeaders`, given, STYLES, ', true or false');
  const isList = style === 'draft-11' || style === 'draft-8';
  if (partitioned && !isList) {
    throw new TypeError(
      `${where}: partitionKey has no effect with standardHeaders ${describe(standardHeaders)}: ` +
        "use 'draft-11' or omit partitionKey",
    );
  }
  const quotasOf = oncePerPolicies(quotaPolicies);
  const older: WriteOlder | undefined =
    style === 'draft-7' ? writeDraft7 : style === 'draft-6' ? writeDraft6 : undefined;
  const draft11 = isList ? draft11Writer(partitioned ? partitionOf : undefined) : undefined;
  const all: WriteHeaders = (decision, response, key) => {
    draft11?.(decision, response, key);
    older?.(decision, response, quotasOf(decision));
    if (legacy) writeLegacy(decision, response);
  };
  // Most limits write draft 11 alone, for every request.
  return legacy ? all : (draft11 ?? all);
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
  `${before('partition')}:${hashStoredKey(text).slice(1).replaceAll('-', '+').replaceAll('_', '/')}:`;
