import type { Decision } from '../../limiter/decision.js';
import { checkBoolean, describe } from '../../options.js';
import type { Keys } from '../key-of-request.js';
import { writeDraft6, writeDraft7, writeDraft11, writeLegacy, writeRetryAfter } from './header-writers.js';
import { partitionOf } from './partition-key.js';
import type { ResponseHeaders } from './write-headers.js';

export type HeaderStyle = 'draft-11' | 'draft-8' | 'draft-7' | 'draft-6';

export interface HeaderOptions {
  /**
   * The form of `RateLimit` and `RateLimit-Policy`: `'draft-11'` (default) of the IETF draft, `'draft-8'` (the same form),
   * `'draft-7'`, `'draft-6'` or `true` (as in express-rate-limit, draft 6); `false` for none.
   */
  readonly standardHeaders?: HeaderStyle | boolean | undefined;
  /** Adds `X-RateLimit-Limit`, `-Remaining` and `-Reset` (Unix seconds); default false. */
  readonly legacyHeaders?: boolean | undefined;
  /** Adds `pk` of draft 11 and 8, an opaque hash of the key by which a client tells its own limits apart; default false. */
  readonly partitionKey?: boolean | undefined;
}

export interface HeaderWriter {
  /** Adds this decision's headers to a response, merged with those of earlier limiters. */
  write(decision: Decision, response: ResponseHeaders, key?: Keys): void;
  /** The same headers by their names, for errors. */
  of(decision: Decision, key?: Keys): Record<string, string>;
}

const STYLES = ['draft-11', 'draft-8', 'draft-7', 'draft-6'] as const;
const WRITERS = {
  'draft-11': writeDraft11,
  'draft-8': writeDraft11,
  'draft-7': writeDraft7,
  'draft-6': writeDraft6,
} as const;

/**
 * What writes the headers of one limiter's decisions.
 * @param where how errors name the place of the options, such as `rateLimit`
 * @throws TypeError, RangeError naming the option that is wrong
 */
export function headerWriter(where: string, options: HeaderOptions): HeaderWriter {
  const { standardHeaders = 'draft-11', legacyHeaders: legacy, partitionKey: partitioned } = options;
  const style = checkStyle(where, standardHeaders);
  checkBoolean(`${where}: legacyHeaders`, legacy);
  checkBoolean(`${where}: partitionKey`, partitioned);
  if (partitioned && style !== 'draft-11' && style !== 'draft-8') {
    throw new TypeError(
      `${where}: partitionKey has no effect with standardHeaders ${describe(standardHeaders)}: ` +
        "use 'draft-11' or omit partitionKey",
    );
  }
  const writeStandard = style === undefined ? undefined : WRITERS[style]();
  const write: HeaderWriter['write'] = (decision, response, key) => {
    const partition = partitioned && key !== undefined ? partitionOf(key) : undefined;
    writeStandard?.(decision, response, partition);
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
