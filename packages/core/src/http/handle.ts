import type { Decision } from '../decision.js';
import { toMicros } from '../duration.js';
import { checkOptions, describe } from '../options.js';
import { ask } from './ask.js';
import { checkFunction } from './check-function.js';
import { costOfRequest } from './cost-of-request.js';
import { denialOf } from './denial.js';
import { headerWriter } from './headers/header-style.js';
import { countsAddresses, type Keys, keyOfRequest } from './key-of-request.js';
import { limiterOfRequest } from './limiter-of-request.js';
import { listsOf } from './listed.js';
import { misuseChecks, warnOnce } from './misuse.js';
import { LimiterOfRequests, type OwnLimiter, withLimiter } from './own-limiter.js';
import type { Reply } from './reply.js';
import { REQUEST_LIMIT_OPTIONS, type RequestLimitOptions } from './request-limit-options.js';
import type { RequestView } from './request-view.js';
import type { ResponseView } from './response-view.js';
import { whenOver } from './when-over.js';

/** What is to be done with a request. */
export type Verdict =
  | {
      readonly outcome: 'passed';
      /** Undefined when the request was skipped. */
      readonly decision?: Decision;
    }
  | {
      readonly outcome: 'denied';
      /** Undefined when the request is on the `denyList`. */
      readonly decision?: Decision;
      /** The answer, unless the adapter's user has one. */
      reply(): Promise<Reply>;
    }
  /** Somebody has answered already, or the client left while the request waited: there is nobody to answer. */
  | { readonly outcome: 'gone' };

/** What an adapter calls for each request. */
export interface RequestLimit<Args extends readonly unknown[]> extends OwnLimiter {
  /**
   * Decides, and sets the headers of `response`. What the request holds or does not count is given back when the response is
   * over. Rejects as `RateLimiter.consume` does, with `throw` also for denials.
   */
  handle(request: RequestView, response: ResponseView, ...args: Args): Promise<Verdict>;
}

const SKIPPED: Verdict = { outcome: 'passed' };
const GONE: Verdict = { outcome: 'gone' };

/**
 * What all adapters share: from a request to a verdict.
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
  const lists = listsOf(where, options);
  const denial = denialOf(where, options);
  const headers = headerWriter(where, options);
  const over = whenOver(where, options);
  const { skip, timeout, onLimited, dryRun = false, partitionKey = false } = options;
  checkFunction(`${where}: skip`, skip);
  if (timeout !== undefined) toMicros(`${where}: timeout`, timeout, 0);
  const checks = misuseChecks(
    where,
    options,
    source.name,
    source.store?.name ?? '',
    source.store ?? source.single?.limiter,
  );
  const ownKey = !countsAddresses(options);

  /** As they stand on the response, where other limits may have added theirs. */
  const headersOf = (decision: Decision, response: ResponseView): Record<string, string> =>
    Object.fromEntries(
      Object.keys(headers.of(decision)).map((header) => [header, String(response.get(header))]),
    );

  const denied = async (
    request: RequestView,
    response: ResponseView,
    args: Args,
    decision?: Decision,
  ): Promise<Verdict> => {
    if (response.sent) return GONE;
    if (options.throw)
      throw denial.error(decision, decision === undefined ? {} : headersOf(decision, response));
    const reply = async () =>
      decision === undefined ? denial.forbidden(request) : denial.exceeded(request, args, decision);
    return { outcome: 'denied', ...(decision !== undefined && { decision }), reply };
  };

  /** What the lists say, if anything. */
  const byLists = async (
    request: RequestView,
    response: ResponseView,
    args: Args,
    keys?: Keys,
  ): Promise<Verdict | undefined> => {
    const listed = await lists?.(request, args, keys);
    if (listed === 'denied') return denied(request, response, args);
    return listed === 'allowed' ? SKIPPED : undefined;
  };

  /** Every turn of the event loop's queue counts here: each request comes by. */
  const judge = async (request: RequestView, response: ResponseView, args: Args): Promise<Verdict> => {
    if (skip !== undefined && (await skip(...args))) return SKIPPED;
    const early = lists && (await byLists(request, response, args));
    if (early !== undefined) return early;
    const keys = await keyOf(request, args);
    const late = lists && (await byLists(request, response, args, keys));
    if (late !== undefined) return late;
    checks?.request(request, source.name, keys, ownKey);

    const limited = source.single ?? (await source.ofRequest(args));
    const cost = typeof costOf === 'function' ? await costOf(...args) : costOf;
    const decision = await ask(limited.limiter, keys, cost, timeout, response);
    if (decision === undefined) return GONE;
    source.decided?.(decision, limited);
    over(limited, decision, response, args);
    if (!decision.allowed) await onLimited?.(...args, decision);
    if (dryRun) return { outcome: 'passed', decision };
    if (!response.sent) headers.write(decision, response, partitionKey ? keys : undefined);
    return decision.allowed ? { outcome: 'passed', decision } : denied(request, response, args, decision);
  };

  const failed = (error: unknown): Verdict => {
    if (!dryRun) throw asError(where, error);
    warnOnce(
      'SLUICE_DRY_RUN_FAILED',
      source.name,
      `The dry run of limit '${source.name}' let a request pass undecided: ${error}`,
    );
    return SKIPPED;
  };

  const handle: RequestLimit<Args>['handle'] = (request, response, ...args) =>
    judge(request, response, args).catch(failed);
  return withLimiter({ handle }, new LimiterOfRequests(where, source));
}

/**
 * Whatever an option throws arrives as an Error: Express takes `undefined` and `'route'` for "go on", and the request would
 * pass unlimited; Koa never answers then.
 */
function asError(where: string, error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error(`${where}: an option threw ${describe(error)}`, { cause: error });
}
