import { type Decision, isKeyResolutionError, RequestForbiddenError } from '@sluice/core';
import { andThen, describe, errorOfDenial, isPromise, type MaybePromise } from '@sluice/core/internal';
import { checkDenialOptions, isMessage } from './denial-options.js';
import { type HeaderWriter, headerWriter } from './headers/header-style.js';
import { writeRetryAfter } from './headers/single-policy.js';
import { warnOfDryRun, warnOfServerKey } from './key-errors.js';
import { asError } from './option-functions.js';
import { cachedProblems, FORBIDDEN, problemOf, type RateLimitProblem, UNAVAILABLE } from './problem.js';
import { type Reply, replyTo, writeVary } from './reply.js';
import type { Keys, RequestLimitOptions } from './request-limit-options.js';
import type { MatchedRules, RuleReply } from './request-rules.js';
import { ABORTED, SKIPPED, type Verdict } from './verdict.js';
import type { RequestView, ResponseView } from './views.js';

/** A request on its way through a limit. */
export interface Exchange<Args extends readonly unknown[]> {
  readonly request: RequestView;
  readonly response: ResponseView;
  /** What the framework passes to functions. */
  readonly args: Args;
  /** Of the limit, or of the limiter of its rules. */
  responder: Responder<Args>;
  /** With `rules`: those that match the request. */
  matched?: MatchedRules | undefined;
  /** What functions and the adapter get of the decision, if the adapter shows an object of its own. */
  seen?: Decision | undefined;
}

/** Makes the verdict on a request that does not simply pass: answers or throws denials. */
export class Responder<Args extends readonly unknown[]> {
  readonly headers: HeaderWriter;
  readonly #where: string;
  readonly #name: string;
  readonly #options: RequestLimitOptions<Args>;
  readonly #status: number;
  readonly #problemOf: (decision: Decision) => RateLimitProblem;

  /**
   * @param name the limiter's, for warnings
   * @throws RangeError, TypeError naming the invalid option
   */
  constructor(where: string, options: RequestLimitOptions<Args>, name: string) {
    this.#status = checkDenialOptions(where, options);
    this.#where = where;
    this.#name = name;
    this.#options = options;
    this.headers = headerWriter(where, options);
    this.#problemOf = cachedProblems(this.#status);
  }

  /** The denial as a response shows it, with a random part of its wait added. Never earlier than the true moment. */
  #later(decision: Decision, share = this.#options.retryAfterJitter ?? 0): Decision {
    const { retryAfter } = decision;
    if (share === 0 || !Number.isFinite(retryAfter)) return decision;
    const { moreAfter, policies } = decision; // computed when they are read
    const later = retryAfter + Math.floor(retryAfter * share * Math.random());
    return { ...decision, moreAfter, policies, retryAfter: later };
  }

  /**
   * The verdict on a request that exceeds the limit.
   * @param shown the decision under its public name
   */
  deny(exchange: Exchange<Args>, keys: Keys, decision: Decision, shown: Decision): Verdict {
    const { response, matched } = exchange;
    if (response.sent) return ended(response);
    const own = matched?.replyTo(decision);
    const later = this.#later(shown, own?.retryAfterJitter);
    this.headers.write(later, response, keys);
    writeRetryAfter(later, response);
    for (const name in own?.headers) response.set(name, own.headers[name]!);
    if (this.#options.throw) {
      const headers = { ...this.#headersOf(decision, response), ...own?.headers };
      throw errorOfDenial(decision, { status: own?.status ?? this.#status, headers });
    }
    const reply = (status = own?.status) => {
      const made = this.#replyTo(exchange, decision, later, status, own);
      // Not `andThen`: a flood of denials need not create a closure for each.
      return isPromise(made) ? made.then((text) => varied(text, response)) : varied(made, response);
    };
    return { outcome: 'denied', decision, keys, status: own?.status, reply };
  }

  /** The verdict on a request on the deny list. */
  forbid({ request, response }: Exchange<Args>): Verdict {
    if (response.sent) return ended(response);
    if (this.#options.throw) throw new RequestForbiddenError();
    return { outcome: 'denied', reply: () => varied(replyTo(FORBIDDEN, accepted(request)), response) };
  }

  /** The verdict if the store is out and the failure policy denies: `onLimited`, `message` and `handler` are not called. */
  unavailable({ request, response }: Exchange<Args>, decision: Decision): Verdict {
    if (this.#options.dryRun) return SKIPPED;
    if (response.sent) return ended(response);
    if (this.#options.throw) throw errorOfDenial(decision);
    writeRetryAfter(this.#later(decision), response);
    return { outcome: 'denied', reply: () => varied(replyTo(UNAVAILABLE, accepted(request)), response) };
  }

  /** The verdict on a request that could not be decided. */
  failed(error: unknown, response: ResponseView): Verdict {
    const { dryRun, validate } = this.#options;
    if (response.sent && isKeyResolutionError(error)) return dryRun ? SKIPPED : ended(response); // the client disconnected, so it has no address
    if (!dryRun) {
      if (validate !== false) warnOfServerKey(this.#where, this.#name, error);
      throw asError(this.#where, error);
    }
    warnOfDryRun(this.#name, error);
    return SKIPPED;
  }

  /** The decision's headers as the response has them, where other limits may have added theirs. */
  #headersOf(decision: Decision, response: ResponseView): Record<string, string> {
    const names = Object.keys(this.headers.of(decision));
    return Object.fromEntries(names.map((header) => [header, String(response.get(header))]));
  }

  /**
   * @param status overrides the option `statusCode`
   * @param own the reply of the rule that denied; its body overrides the option `message`
   */
  #replyTo(
    { request, args }: Exchange<Args>,
    decision: Decision,
    shown: Decision,
    status: number | undefined,
    own: RuleReply | undefined,
  ): MaybePromise<Reply> {
    const message = own?.body ?? this.#options.message;
    try {
      if (typeof message !== 'function') return this.#replyWith(request, shown, status, message);
      const made = andThen(message(...args, decision), (text) => {
        if (isMessage(text)) return this.#replyWith(request, shown, status, text);
        if (text === undefined) return this.#replyWith(request, shown, status);
        throw new TypeError(
          `${this.#where}: the function message returned ${describe(text)}; it must return text or an object`,
        );
      });
      return isPromise(made) ? made.catch((error) => this.#refuse(error)) : made;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  #replyWith(
    request: RequestView,
    shown: Decision,
    status: number | undefined,
    text?: string | object,
  ): Reply {
    const problem = status === undefined ? this.#problemOf(shown) : problemOf(shown, status);
    return replyTo(problem, accepted(request), text);
  }

  #refuse(error: unknown): never {
    throw asError(this.#where, error);
  }
}

/** Ends a response that has already started although its request was denied. */
function ended(response: ResponseView): Verdict {
  response.endBegun();
  return ABORTED;
}

function varied(reply: ReturnType<typeof replyTo>, response: ResponseView): Reply {
  if (!response.sent) writeVary(reply, response);
  return reply;
}

function accepted({ headers }: RequestView): string | undefined {
  const accept = (headers as { accept?: unknown } | undefined)?.accept;
  return typeof accept === 'string' ? accept : undefined;
}

/**
 * The decision under the public name of its limit.
 * @throws TypeError if the name is not a string
 */
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
