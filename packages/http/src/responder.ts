import { type Decision, isKeyResolutionError, RequestForbiddenError } from '@sluice/core';
import {
  andThen,
  checkInteger,
  describe,
  errorOfDenial,
  isPromise,
  type MaybePromise,
  noEffect,
} from '@sluice/core/internal';
import { headerWriter, type WriteHeaders } from './headers/header-style.js';
import { headersBy, writeRetryAfter } from './headers/single-policy.js';
import { warnOfDryRun, warnOfServerKey } from './key-errors.js';
import { asError } from './option-functions.js';
import {
  cachedProblems,
  FORBIDDEN,
  type HttpProblem,
  problemOf,
  type RateLimitProblem,
  UNAVAILABLE,
} from './problem.js';
import { type NegotiatedReply, type Reply, replyTo, writeVary } from './reply.js';
import type { Keys, RequestLimitOptions } from './request-limit-options.js';
import type { MatchedRules } from './request-rules.js';
import type { RequestView, ResponseView } from './views.js';

/** What a limit decided on a request. */
export interface Verdict {
  /**
   * `passed`: serve the request. `denied`: send the response of `reply`. `aborted`: there is nothing to answer, because the response has already
   * started, or the client disconnected during the wait.
   */
  readonly outcome: 'passed' | 'denied' | 'aborted';
  /** Undefined if no limit decided: the request was skipped or is on the `denyList`, or the store is out. */
  readonly decision: Decision | undefined;
  /** What the decision counted. */
  readonly keys: Keys | undefined;
  /** The status of the rule that denied, if it has one. */
  readonly status: number | undefined;
  /**
   * The response to a denial, unless the application sends its own. Synchronous unless something is awaited.
   * @param status overrides the status of the rule and of the options
   */
  reply(status?: number): MaybePromise<Reply>;
}

/** A request on its way through a limit. At the end it is the verdict: each request makes one object. */
export interface Exchange<Args extends readonly unknown[]> extends Writable<Verdict> {
  readonly request: RequestView;
  readonly response: ResponseView;
  /** What the framework passes to functions. */
  readonly args: Args;
  /** Of the limit, or of the limiter of its rules. */
  responder: Responder<Args>;
  /** With `rules`: those that match the request. */
  matched: MatchedRules | undefined;
  /** What a denial answers: the decision under its public name, or a problem if no limit denied. */
  denial: Decision | HttpProblem | undefined;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Makes the verdict on a request that does not simply pass: answers or throws denials. */
export class Responder<Args extends readonly unknown[]> {
  readonly writeHeaders: WriteHeaders;
  readonly #status: number;
  readonly #problemOf: (decision: Decision) => RateLimitProblem;

  /** @param name the limiter's, for warnings */
  constructor(
    private readonly where: string,
    private readonly options: RequestLimitOptions<Args>,
    private readonly name: string,
  ) {
    this.#status = checkDenialOptions(where, options);
    this.writeHeaders = headerWriter(where, options);
    this.#problemOf = cachedProblems(this.#status);
  }

  /** The denial as a response shows it, with a random part of its wait added. Never earlier than the true moment. */
  #later(decision: Decision, share = this.options.retryAfterJitter ?? 0): Decision {
    const { retryAfter } = decision;
    if (share === 0 || !Number.isFinite(retryAfter)) return decision;
    const { moreAfter, policies } = decision; // computed when they are read
    const later = retryAfter + Math.floor(retryAfter * share * Math.random());
    return { ...decision, moreAfter, policies, retryAfter: later };
  }

  /**
   * Denies a request that exceeds the limit.
   * @param named the decision under its public name
   */
  deny(exchange: Exchange<Args>, named: Decision): Exchange<Args> {
    const { response, matched, keys } = exchange;
    if (response.sent) return this.#ended(exchange);
    const decision = exchange.decision!;
    const own = matched?.replyTo(decision);
    const later = this.#later(named, own?.retryAfterJitter);
    this.writeHeaders(later, response, keys);
    writeRetryAfter(later, response);
    for (const name in own?.headers) response.set(name, own.headers[name]!);
    if (this.options.throw) {
      // As the response has them, where other limits may have added theirs.
      const names = Object.keys(headersBy(this.writeHeaders, decision));
      const written = Object.fromEntries(names.map((name) => [name, String(response.get(name))]));
      const status = own?.status ?? this.#status;
      throw errorOfDenial(decision, { status, headers: { ...written, ...own?.headers } });
    }
    exchange.status = own?.status;
    return this.#denied(exchange, later);
  }

  /** Denies a request on the deny list. */
  forbid(exchange: Exchange<Args>): Exchange<Args> {
    if (exchange.response.sent) return this.#ended(exchange);
    if (this.options.throw) throw new RequestForbiddenError();
    return this.#denied(exchange, FORBIDDEN);
  }

  /** Denies a request by the failure policy of a store that is out: `onLimited`, `message` and `handler` are not called. */
  unavailable(exchange: Exchange<Args>, decision: Decision): Exchange<Args> {
    if (this.options.dryRun) return this.#uncounted(exchange);
    if (exchange.response.sent) return this.#ended(exchange);
    if (this.options.throw) throw errorOfDenial(decision);
    writeRetryAfter(this.#later(decision), exchange.response);
    return this.#denied(exchange, UNAVAILABLE);
  }

  /** The verdict on a request that could not be decided. */
  failed(exchange: Exchange<Args>, error: unknown): Exchange<Args> {
    const { dryRun, validate } = this.options;
    // A client that disconnected has no address.
    const isGone = exchange.response.sent && isKeyResolutionError(error);
    if (dryRun) {
      if (!isGone) warnOfDryRun(this.name, error);
      return this.#uncounted(exchange);
    }
    if (isGone) return this.#ended(exchange);
    if (validate !== false) warnOfServerKey(this.where, this.name, error);
    throw asError(this.where, error);
  }

  /** The rule that denied has the body, otherwise the option `message`, otherwise the problem. */
  replyTo(exchange: Exchange<Args>, status: number | undefined): MaybePromise<NegotiatedReply> {
    const { args, matched, decision } = exchange;
    try {
      const message = decision && (matched?.replyTo(decision)?.body ?? this.options.message);
      if (typeof message !== 'function') return this.#replyWith(exchange, status, message);
      const made = andThen(message(...args, decision!), (text) => {
        if (text === undefined || isMessage(text)) return this.#replyWith(exchange, status, text);
        throw new TypeError(
          `${this.where}: the function message returned ${describe(text)}; it must return text or an object`,
        );
      });
      return isPromise(made) ? made.catch((error) => this.#refuse(error)) : made;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  #replyWith(exchange: Exchange<Args>, status?: number, text?: string | object): NegotiatedReply {
    const { accept } = Object(exchange.request.headers);
    const problem = this.#problem(exchange.denial!, status);
    return replyTo(problem, typeof accept === 'string' ? accept : undefined, text);
  }

  #problem(denial: Decision | HttpProblem, status: number | undefined): HttpProblem {
    if ('status' in denial) return denial;
    return status === undefined ? this.#problemOf(denial) : problemOf(denial, status);
  }

  #refuse(error: unknown): never {
    throw asError(this.where, error);
  }

  #denied(exchange: Exchange<Args>, denial: Decision | HttpProblem): Exchange<Args> {
    exchange.outcome = 'denied';
    exchange.denial = denial;
    return exchange;
  }

  /** Ends a response that has already started although its request was denied. */
  #ended(exchange: Exchange<Args>): Exchange<Args> {
    exchange.response.endBegun();
    exchange.outcome = 'aborted';
    return exchange;
  }

  /** Lets a request pass that a dry run could not decide. */
  #uncounted(exchange: Exchange<Args>): Exchange<Args> {
    exchange.decision = undefined;
    exchange.keys = undefined;
    return exchange;
  }
}

/** The `reply` of every verdict: one function, so that a flood of denials creates no closures. */
export function reply<Args extends readonly unknown[]>(
  this: Exchange<Args>,
  status = this.status,
): MaybePromise<Reply> {
  const { responder, response } = this;
  const made = responder.replyTo(this, status);
  return isPromise(made) ? made.then((text) => varied(text, response)) : varied(made, response);
}

function varied(made: NegotiatedReply, response: ResponseView): Reply {
  if (!response.sent) writeVary(made, response);
  return made;
}

/** The decision under the public name of its limit. */
export function renamed(where: string, decision: Decision, name: string): Decision {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      `${where}: the identifier function returned ${describe(name)}; it must return a string`,
    );
  }
  const policies = decision.policies.map((policy) =>
    policy.name === decision.name ? { ...policy, name } : policy,
  );
  return { ...decision, moreAfter: decision.moreAfter, name, policies };
}

const isMessage = (value: unknown): value is string | object =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);

/** @returns the status of a denial */
function checkDenialOptions(where: string, options: RequestLimitOptions<never>): number {
  const { statusCode = 429, message, onLimited, dryRun, denyList, timeout, rules, throw: throws } = options;
  const { retryAfterJitter: jitter = 0 } = options;
  checkInteger(`${where}: statusCode`, statusCode, 400, 599);
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) {
    throw new RangeError(
      `${where}: retryAfterJitter must be a share from 0 to 1, such as 0.2, not ${describe(jitter)}`,
    );
  }
  if (!isMessage(message) && typeof message !== 'function' && message !== undefined) {
    throw new TypeError(
      `${where}: message must be text, an object or a function that returns one, not ${describe(message)}`,
    );
  }
  if (dryRun && onLimited === undefined && rules === undefined)
    throw noEffect(where, 'dryRun', 'without onLimited, which reports what would be denied');
  if (dryRun && denyList !== undefined)
    throw noEffect(where, 'denyList', 'with dryRun: put it into a limit of its own');
  if (dryRun && timeout !== undefined)
    throw noEffect(where, 'timeout', 'with dryRun, which lets every request pass at once');
  if (throws && message !== undefined)
    throw noEffect(where, 'message', 'with throw: the code that catches the error answers');
  return statusCode;
}
