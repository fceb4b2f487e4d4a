import type { RateLimitExceededError, StoreUnavailableError } from '../../errors.js';
import { joined } from './keep-headers.js';
import { linesOf } from './lines.js';

/** A response's headers as its framework reads and writes them. */
export interface ResponseHeaders {
  get(name: string): unknown;
  set(name: string, value: string): void;
}

/**
 * Sets the headers of a denial that was thrown. One that a limit on requests threw has those of the whole response already; that of
 * a decorated method, or of `acquire`, has its own, which are added to the lists.
 */
export function writeErrorHeaders(
  { headers: own }: RateLimitExceededError | StoreUnavailableError,
  headers: ResponseHeaders,
): void {
  for (const [name, value] of Object.entries(own)) {
    headers.set(name, name.startsWith('RateLimit') ? joined(headers.get(name), value) : value);
  }
}

/** Adds items to a header that is a list, behind those that stand there. */
export function addToList(headers: ResponseHeaders, name: string, items: string): void {
  const before = headers.get(name);
  headers.set(name, before === undefined ? items : [...linesOf(before), items].join(', '));
}
