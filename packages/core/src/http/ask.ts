import type { Cost, WaitOptions } from '../admission/call-options.js';
import type { Decision } from '../decision.js';
import { isRateLimitExceededError } from '../errors.js';
import type { RateLimiter } from '../limiter.js';
import type { ResponseView } from './response-view.js';

/**
 * Takes a request's permits, waiting for them up to `timeout` where there is one.
 * @returns undefined when the client left while it waited: then nothing is taken
 */
export async function ask(
  limiter: RateLimiter,
  key: never,
  cost: Cost,
  timeout: WaitOptions['timeout'],
  response: ResponseView,
): Promise<Decision | undefined> {
  if (timeout === undefined) return limiter.consume(key, { cost });
  const left = new AbortController();
  response.whenOver(() => left.abort());
  try {
    return await limiter.acquire(key, { cost, timeout, signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) return undefined;
    if (isRateLimitExceededError(error)) return error.decision;
    throw error;
  }
}
