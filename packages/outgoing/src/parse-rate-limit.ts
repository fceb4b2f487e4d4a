import { checkOptions } from '@sluice/core/internal';
import { providerOf, readersOf } from './providers/providers.js';
import type { RateLimitReader, RateLimitReading, ResponseView } from './reading/reading.js';
import { type AnyResponse, viewOf } from './reading/response-view.js';

/** The options of `parseRateLimit`. */
export interface ParseOptions {
  /** The readers, in order: the first that knows the response decides. Default: by the host of `response.url`, then the standard headers. */
  readonly reads?: readonly RateLimitReader[];
  /** The body, if you have read it: some services say in it why they refused. Longer than 64 KiB it is not read. */
  readonly body?: string;
  /** When the response arrived, ms since 1970. Default: now. */
  readonly receivedAt?: number;
}

/** Characters; a longer body says nothing about limits. */
export const MOST_BODY = 65_536;

/**
 * What a response says about rate limits: the rest of each budget, and if the call was refused, why, for which scope, and until when. Reads
 * headers, never the stream of the body. Does not throw for any response: what cannot be read is missing.
 * @throws TypeError for an option that it does not have
 * @param response a `Response`, a message of `node:http`, or a response of undici, axios or got
 */
export function parseRateLimit(
  response: AnyResponse & { readonly url?: string | undefined },
  options: ParseOptions = {},
): RateLimitReading {
  checkOptions('parseRateLimit', options, ['reads', 'body', 'receivedAt']);
  const { reads, body = '', receivedAt = Date.now() } = options;
  const readers = reads ?? readersOfUrl(response.url);
  return readAll(readers, viewOf(response, receivedAt, body.length > MOST_BODY ? '' : body));
}

/** The first reader that knows the response decides. */
export function readAll(readers: readonly RateLimitReader[], view: ResponseView): RateLimitReading {
  for (const reader of readers) {
    const reading = reader(view);
    if (reading !== undefined && (reading.refusal !== undefined || reading.observed.length > 0))
      return reading;
  }
  return { observed: [] };
}

function readersOfUrl(url: string | undefined): readonly RateLimitReader[] {
  return readersOf(providerOf(url !== undefined && URL.canParse(url) ? new URL(url).hostname : ''));
}
