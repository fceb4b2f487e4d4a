import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { finished } from 'node:stream';
import { type Cost, checkCost } from '../admission/call-options.js';
import type { Decision } from '../decision.js';
import type { RateLimiter } from '../limiter.js';
import { checkOptions, describe } from '../options.js';
import { checkFunction } from './check-function.js';
import { keyOfRequest } from './key-of-request.js';
import { type LimiterSource, limiterOfRequest } from './limiter-of-request.js';
import { type OfRequest, REQUEST_LIMIT_OPTIONS, type RequestLimitOptions } from './request-limit-options.js';
import type { RequestView } from './request-view.js';

export type { RequestLimitOptions };

/** What an adapter calls for each request. */
export interface RequestLimit<Args extends readonly unknown[]> {
  /** @throws TypeError when each request has a policy, and so a limiter, of its own */
  readonly limiter: RateLimiter;
  /** The decision, or undefined for a request that is skipped. Rejects as `RateLimiter.consume` does. */
  decide(request: RequestView, ...args: Args): Promise<Decision | undefined>;
  /**
   * Ends what the request of this decision holds (permits of `concurrency`). May be called more than once, and for decisions that
   * hold nothing.
   */
  release(decision: Decision): Promise<void>;
  /** Does that when Node's own response is over, in whatever way it ends; at once if it is over already. Never throws. */
  releaseAfter(decision: Decision, response: ServerResponse | Http2ServerResponse): void;
  /** Closes the limiter, if it is not yours. */
  close(): Promise<void>;
}

/**
 * What all adapters share: from a request to a decision.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function limitRequests<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): RequestLimit<Args> {
  checkOptions(where, options, REQUEST_LIMIT_OPTIONS);
  const source = limiterOfRequest(where, options);
  const keyOf = keyOfRequest(where, options);
  const costOf = costOfRequest(where, options.cost, source);
  const { skip } = options;
  checkFunction(`${where}: skip`, skip);
  /** By whom what a request holds is to be released. */
  const holding = new WeakMap<Decision, RateLimiter>();
  const release = async (decision: Decision): Promise<void> => {
    await holding.get(decision)?.release(decision);
  };
  return {
    get limiter() {
      if (source.single !== undefined) return source.single.limiter;
      const { name = 'default' } = options;
      throw new TypeError(
        `${where}: limit '${name}' has a policy for each request, and so no single limiter. To peek and reset make a ` +
          'RateLimiter with the same name, store and algorithm: it counts in the same place',
      );
    },
    decide: onlyErrors(where, async (request, ...args) => {
      if (skip !== undefined && (await skip(...args))) return undefined;
      const key = await keyOf(request, args);
      const { limiter, holds } = source.single ?? (await source.ofRequest(args));
      const decision = await limiter.consume(key, {
        cost: typeof costOf === 'function' ? await costOf(...args) : costOf,
      });
      if (holds && decision.allowed) holding.set(decision, limiter);
      return decision;
    }),
    release,
    releaseAfter: (decision, response) => {
      if (!holding.has(decision)) return;
      // Should the store be out, the lease runs out by itself.
      finished(response, { readable: false }, () => void release(decision).catch(() => {}));
    },
    close: () => source.close(),
  };
}

/** @throws RangeError, TypeError for a cost that no limiter takes; what a function gives is checked when it is used */
function costOfRequest<Args extends readonly unknown[]>(
  where: string,
  cost: Cost | OfRequest<Args, Cost> = 1,
  { single }: LimiterSource<Args>,
): Cost | OfRequest<Args, Cost> {
  if (typeof cost !== 'function') {
    // Where policies come with requests, so do their names.
    const names = single === undefined ? Object.keys(Object(cost)) : Object.keys(single.limiter.policies);
    checkCost(`${where}: cost`, cost, names);
  }
  return cost;
}

/**
 * Whatever an option throws arrives as an Error: Express takes `undefined` and `'route'` for "go on", and the request would
 * pass unlimited; Koa never answers then.
 */
function onlyErrors<A extends readonly unknown[], T>(
  where: string,
  work: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await work(...args);
    } catch (error) {
      throw error instanceof Error
        ? error
        : new Error(`${where}: an option threw ${describe(error)}`, { cause: error });
    }
  };
}
