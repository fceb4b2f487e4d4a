import type { Decision } from '../../limiter/decision.js';
import { oneOrMoreSeconds, quantity } from './numbers.js';

/** `RateLimit-Policy` of drafts 6 and 7: `100;w=60, 1000;w=3600`, q permits in w seconds; one item for each policy. */
export const quotaPolicies = ({ policies }: Decision): string =>
  policies.map(({ limit, window }) => `${quantity(limit)};w=${oneOrMoreSeconds(window)}`).join(', ');
