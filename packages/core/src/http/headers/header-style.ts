import { createHash } from 'node:crypto';
import type { Decision } from '../../decision.js';
import { draft11Items, type PartitionOf, rateLimit, rateLimitPolicy } from '../../decision-headers.js';
import { checkBoolean, describe } from '../../options.js';
import type { HeaderOptions, HeaderStyle, Keys } from '../request-limit-options.js';
import { oncePerPolicies } from './once-per-policies.js';
import { addToList, type ResponseHeaders } from './response-headers.js';
import { type Write, writeDraft6, writeDraft7, writeLegacy, writeRetryAfter } from './single-policy.js';

export interface HeaderWriter {
  /** Adds this decision's headers to a response, merged with those of earlier limiters. */
  write(decision: Decision, response: ResponseHeaders, key?: Keys): void;
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
  checkBoolean(`${where}: legacyHeaders`, legacy);
  checkBoolean(`${where}: partitionKey`, partitioned);
  const isList = style === 'draft-11' || style === 'draft-8';
  if (partitioned && !isList) {
    throw new TypeError(
      `${where}: partitionKey has no effect with standardHeaders ${describe(standardHeaders)}: ` +
        "use 'draft-11' or omit partitionKey",
    );
  }
  const itemsOf = isList ? oncePerPolicies(draft11Items) : undefined;
  const writeOlder: Write | undefined =
    style === 'draft-7' ? writeDraft7() : style === 'draft-6' ? writeDraft6() : undefined;
  const write: HeaderWriter['write'] = (decision, response, key) => {
    if (itemsOf !== undefined) {
      const items = itemsOf(decision);
      const partition = partitioned && key !== undefined ? partitionOf(key) : undefined;
      addToList(response, 'RateLimit-Policy', rateLimitPolicy(decision, items, partition));
      addToList(response, 'RateLimit', rateLimit(decision, items, partition));
    }
    writeOlder?.(decision, response);
    if (legacy) writeLegacy(decision, response);
    if (!decision.allowed) writeRetryAfter(decision, response);
  };
  return {
    write,
    of: (decision, key) => {
      const headers: Record<string, string> = {};
      const set = (name: string, value: string) => {
        headers[name] = value;
      };
      write(decision, { get: (name) => headers[name], set }, key);
      return headers;
    },
  };
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

const parameter = (text: string): string =>
  `;pk=:${createHash('sha256').update(text).digest().subarray(0, 12).toString('base64')}:`;
