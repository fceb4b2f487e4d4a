import { RequestForbiddenError } from '../errors.js';
import type { Cost } from '../limiter/call-options.js';
import type { Decision } from '../limiter/decision.js';
import { errorOfDenial, isFailureDenial } from '../limiter/error-of-denial.js';
import { type KeyOfRequest, keyForFunctions } from './key-of-request.js';
import type { LimiterSource } from './limiter-of-request.js';
import type { Lists } from './listed.js';
import type { OfRequest } from './request-limit-options.js';
import type { RequestView } from './request-view.js';

/** The result of a check. */
export interface CheckedRequest {
  readonly key: string;
  /** Undefined for a request that is skipped or on the `allowList`. */
  readonly decision?: Decision;
}

/**
 * @param peek true takes no permits
 * @throws every error of `RateLimiter.consume`; RequestForbiddenError for the `denyList`; StoreUnavailableError if the store is out
 *   and the failure policy denies
 */
export type RequestCheck<Args> = (request: RequestView, args: Args, peek: boolean) => Promise<CheckedRequest>;

/** The parts of a limit that a check uses. */
interface CheckedLimit<Args extends readonly unknown[]> {
  readonly source: LimiterSource<Args>;
  readonly keyOf: KeyOfRequest<Args>;
  readonly costOf: Cost | OfRequest<Args, Cost> | undefined;
  readonly lists: Lists<Args> | undefined;
  readonly skip: OfRequest<Args, boolean> | undefined;
  readonly attach: ((args: Args, decision: Decision) => void) | undefined;
}

export function requestCheck<Args extends readonly unknown[]>({
  source,
  keyOf,
  costOf,
  lists,
  skip,
  attach,
}: CheckedLimit<Args>): RequestCheck<Args> {
  return async (request, args, peek) => {
    const keys = await keyOf(request, args);
    const key = keyForFunctions(keys);
    if (await skip?.(...args)) return { key };
    const { listed } = (await lists?.(request, args, () => keys)) ?? {};
    if (listed === 'denied') throw new RequestForbiddenError();
    if (listed === 'allowed') return { key };
    const by = source.single ?? (await source.ofRequest(args, key));
    const cost = typeof costOf === 'function' ? await costOf(...args) : costOf;
    const options = cost === undefined ? undefined : { cost };
    const decision = await (peek ? by.limiter.peek(keys as never, options) : by.consume(keys, options));
    source.decided?.(decision, by);
    attach?.(args, decision);
    if (isFailureDenial(decision)) throw errorOfDenial(decision);
    return { key, decision };
  };
}
