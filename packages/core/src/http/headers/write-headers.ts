import type { Decision } from '../../decision.js';
import { decisionHeaders } from './decision-headers.js';

/** A response's headers as its framework reads and writes them. */
export interface ResponseHeaders {
  get(name: string): unknown;
  set(name: string, value: string): void;
}

/**
 * Sets a decision's headers. Where an earlier limiter of the same response has set `RateLimit` or `RateLimit-Policy`, which
 * are lists, this one's item is added to them.
 */
export function writeHeaders(decision: Decision, headers: ResponseHeaders): void {
  for (const [name, value] of Object.entries(decisionHeaders(decision))) {
    const before = name.startsWith('RateLimit') ? headers.get(name) : undefined;
    headers.set(name, typeof before === 'string' && before !== '' ? `${before}, ${value}` : value);
  }
}
