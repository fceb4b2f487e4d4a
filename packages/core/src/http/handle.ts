import { toMicros } from '../duration.js';
import { isKeyResolutionError } from '../errors.js';
import type { Cost } from '../limiter/call-options.js';
import type { Decision } from '../limiter/decision.js';
import { isFailureDenial } from '../limiter/error-of-denial.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { checkOptions } from '../options.js';
import { connectAtStart } from '../stores/store-health.js';
import { warnOnce } from '../warnings.js';
import { asError } from './as-error.js';
import { ask } from './ask.js';
import { checkFunction } from './check-function.js';
import { costOfRequest } from './cost-of-request.js';
import { denialOf } from './denial.js';
import { givingBack } from './giving-back.js';
import { headerWriter } from './headers/header-style.js';
import { writeRetryAfter } from './headers/header-writers.js';
import { renamed } from './headers/policy-name.js';
import { causeOf, warnOfServerKey } from './key-errors.js';
import { countsAddresses, type Keys, keyForFunctions, keyOfRequest } from './key-of-request.js';
import type { Limited } from './limited.js';
import { limiterOfRequest } from './limiter-of-request.js';
import { listsOf } from './listed.js';
import { misuseChecks } from './misuse.js';
import { LimiterOfRequests, withLimiter } from './own-limiter.js';
import { type Reply, writeVary } from './reply.js';
import { requestCheck } from './request-check.js';
import { type OfRequest, REQUEST_LIMIT_OPTIONS, type RequestLimitOptions } from './request-limit-options.js';
import type { RequestView } from './request-view.js';
import type { ResponseView } from './response-view.js';
import type { RequestLimit, Verdict } from './verdict.js';

/** A request under way. */
interface Exchange<Args> {
  readonly request: RequestView;
  readonly response: ResponseView;
  readonly args: Args;
}

function varied(reply: Reply, response: ResponseView): Reply {
  if (!response.sent) writeVary(reply, response);
  return reply;
}

const SKIPPED: Verdict = { outcome: 'passed' };
const GONE: Verdict = { outcome: 'gone' };

/** There is nothing left to answer: the client has disconnected, or a response was already started. */
function ended(response: ResponseView): Verdict {
  response.endBegun();
  return GONE;
}

/**
 * The part that all adapters share: from a request to a verdict.
 * @param attach puts the decision, also a denial, on the framework's request before any option function runs
 * @param nameFor returns the public name of the limit, for headers and problems; default: its own name
 * @throws RangeError, TypeError naming the invalid option
 */
export function limitRequests<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
  attach?: (args: Args, decision: Decision) => void,
  nameFor?: OfRequest<Args, string>,
): RequestLimit<Args> {
  checkOptions(where, options, REQUEST_LIMIT_OPTIONS);
  const source = limiterOfRequest(where, options);
  const keyOf = keyOfRequest(where, options);
  const costOf = costOfRequest(where, options.cost, source);
  const lists = listsOf(where, options);
  const denial = denialOf(where, options);
  const headers = headerWriter(where, options);
  const giveBack = givingBack(where, options);
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
  if (source.single !== undefined) checks?.limiter(source.single);
  const ownKey = !countsAddresses(options);

  /** As they stand on the response, where other limits may have added theirs. */
  const headersOf = (decision: Decision, response: ResponseView): Record<string, string> =>
    Object.fromEntries(
      Object.keys(headers.of(decision)).map((header) => [header, String(response.get(header))]),
    );

  /** @param shown the decision under its public name */
  const denied = (
    { request, response, args }: Exchange<Args>,
    decision?: Decision,
    keys?: Keys,
    shown?: Decision,
  ): Verdict => {
    if (response.sent) return ended(response);
    if (options.throw) {
      throw denial.error(decision, decision === undefined ? {} : headersOf(decision, response));
    }
    return decision === undefined
      ? { outcome: 'denied', reply: () => varied(denial.forbidden(request), response) }
      : {
          outcome: 'denied',
          decision,
          keys: keys!,
          reply: (status) =>
            andThen(denial.exceeded(request, args, decision, status, shown), (reply) =>
              varied(reply, response),
            ),
        };
  };

  const told = (
    exchange: Exchange<Args>,
    keys: Keys,
    decision: Decision,
    shown: Decision = decision,
  ): Verdict => {
    if (dryRun) return { outcome: 'passed', decision, keys };
    const { response } = exchange;
    // Where nothing is counted there is nothing to tell.
    if (!response.sent && decision.source !== 'allow')
      headers.write(shown, response, partitionKey ? keys : undefined);
    return decision.allowed ? { outcome: 'passed', decision, keys } : denied(exchange, decision, keys, shown);
  };

  /** `told` under the name that `nameFor` returns. */
  const toldByName = (exchange: Exchange<Args>, keys: Keys, decision: Decision): MaybePromise<Verdict> =>
    nameFor === undefined || dryRun
      ? told(exchange, keys, decision)
      : andThen(nameFor(...exchange.args), (name) =>
          told(exchange, keys, decision, renamed(where, decision, name)),
        );

  /** Nobody exceeded a limit, so `onLimited`, `message` and `handler` have no part in it. */
  const unavailable = ({ request, response }: Exchange<Args>, decision: Decision): Verdict => {
    if (dryRun) return SKIPPED;
    if (response.sent) return ended(response);
    if (options.throw) throw denial.error(decision, {});
    writeRetryAfter(decision, response);
    return { outcome: 'denied', reply: () => varied(denial.unavailable(request), response) };
  };

  const settled = (
    exchange: Exchange<Args>,
    keys: Keys,
    limited: Limited,
    decision: Decision | undefined,
  ): MaybePromise<Verdict> => {
    if (decision === undefined) return GONE;
    source.decided?.(decision, limited);
    attach?.(exchange.args, decision);
    giveBack(limited, decision, exchange.response, exchange.args);
    if (isFailureDenial(decision)) return unavailable(exchange, decision);
    if (decision.allowed || onLimited === undefined) return toldByName(exchange, keys, decision);
    return andThen(onLimited(...exchange.args, decision), () => toldByName(exchange, keys, decision));
  };

  const taken = (
    exchange: Exchange<Args>,
    keys: Keys,
    by: Limited,
    cost: Cost | undefined,
  ): MaybePromise<Verdict> => {
    const decision = ask(by, keys, cost, timeout, exchange.response);
    // Not `andThen`: without a function for each step a request in memory costs a tenth less.
    return isPromise(decision)
      ? decision.then((decided) => settled(exchange, keys, by, decided))
      : settled(exchange, keys, by, decision);
  };

  const counted = (exchange: Exchange<Args>, keys: Keys): MaybePromise<Verdict> => {
    const { request, args } = exchange;
    checks?.request(request, keys, ownKey);
    const { single } = source;
    if (single !== undefined && typeof costOf !== 'function') return taken(exchange, keys, single, costOf);
    // One after the other: a promise that rejects while nobody waits for it ends the process.
    return andThen(single ?? source.ofRequest(args, keyForFunctions(keys)), (by) => {
      if (single === undefined) checks?.limiter(by);
      return andThen(typeof costOf === 'function' ? costOf(...args) : costOf, (cost) =>
        taken(exchange, keys, by, cost),
      );
    });
  };

  const chosen = async (exchange: Exchange<Args>): Promise<Verdict> => {
    const { request, args } = exchange;
    if (skip !== undefined && (await skip(...args))) return SKIPPED;
    const keysOf = () => keyOf(request, args);
    const { listed, keys } = (await lists?.(request, args, keysOf)) ?? {};
    if (listed === 'denied') return denied(exchange);
    return listed === 'allowed' ? SKIPPED : counted(exchange, keys ?? (await keysOf()));
  };

  const judged = (exchange: Exchange<Args>): MaybePromise<Verdict> => {
    if (skip !== undefined || lists !== undefined) return chosen(exchange);
    const keys = keyOf(exchange.request, exchange.args);
    return isPromise(keys) ? andThen(keys, (made) => counted(exchange, made)) : counted(exchange, keys);
  };

  const failed = (error: unknown, response: ResponseView): Verdict => {
    if (response.sent && isKeyResolutionError(error)) return dryRun ? SKIPPED : ended(response); // a disconnected client has no address
    if (!dryRun) {
      if (options.validate !== false) warnOfServerKey(where, source.name, error);
      throw asError(where, error);
    }
    warnOnce(
      'SLUICE_DRY_RUN_FAILED',
      source.name,
      `The dry run of limit '${source.name}' could not decide a request and let it pass: ${error}${causeOf(error)}`,
    );
    return SKIPPED;
  };

  const handle: RequestLimit<Args>['handle'] = (request, response, ...args) => {
    try {
      const verdict = judged({ request, response, args });
      return isPromise(verdict) ? verdict.catch((error) => failed(error, response)) : verdict;
    } catch (error) {
      return failed(error, response);
    }
  };
  const check = requestCheck({ source, keyOf, costOf, lists, skip, attach });
  const connect = () => connectAtStart(source.store);
  return withLimiter({ handle, check, connect }, new LimiterOfRequests(where, source));
}
