import { isRateLimitExceededError, isStoreUnavailableError } from '../errors.js';
import type { ConsumeOptions, Cost, WaitOptions } from '../limiter/call-options.js';
import type { Decision } from '../limiter/decision.js';
import type { RateLimiter } from '../limiter/rate-limiter.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Keys } from './key-of-request.js';
import type { Limited } from './limited.js';
import type { ResponseView } from './response-view.js';

/**
 * Takes a request's permits, waiting for them up to `timeout` where there is one.
 * @returns undefined when the client left while it waited: then nothing is taken
 */
export function ask(
  { limiter, consume }: Limited,
  keys: Keys,
  cost: Cost | undefined,
  timeout: WaitOptions['timeout'],
  response: ResponseView,
): MaybePromise<Decision | undefined> {
  const options = cost === undefined ? undefined : { cost };
  if (timeout === undefined) return consume(keys, options);
  return waitFor(limiter as RateLimiter, keys as never, { ...options, timeout }, response);
}

async function waitFor(
  limiter: RateLimiter,
  keys: never,
  options: ConsumeOptions & WaitOptions,
  response: ResponseView,
): Promise<Decision | undefined> {
  const left = new AbortController();
  response.whenOver(() => left.abort());
  try {
    return await limiter.acquire(keys, { ...options, signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) return undefined;
    if (isRateLimitExceededError(error)) return error.decision;
    if (isStoreUnavailableError(error) && error.decision !== undefined) return error.decision;
    throw error;
  }
}
