import {
  type Cost,
  type Decision,
  type DecisionOptions,
  type RateLimiter,
  RequestForbiddenError,
} from '@sluice/core';
import {
  andThen,
  checkCost,
  connectAtStart,
  decisionOf,
  errorOfDenial,
  isFailureDenial,
  isPromise,
  type MaybePromise,
  toMicros,
} from '@sluice/core/internal';
import { type AccessLists, accessLists } from './access-lists.js';
import { type KeyOfRequest, keyForFunctions, keyOfRequest } from './key-of-request.js';
import { limiterSource } from './limiter-source.js';
import { MisuseChecks } from './misuse.js';
import type { OwnLimiter } from './own-limiter.js';
import { RefundOnFinish } from './refund-on-finish.js';
import {
  checkRequestLimitOptions,
  type Keys,
  type OfRequest,
  type RequestLimitOptions,
} from './request-limit-options.js';
import type { LimiterSource, RequestLimiter } from './request-limiter.js';
import { type Exchange, Responder, renamed, reply, type Verdict } from './responder.js';
import { type RuledRequest, RulesSource } from './rules-source.js';
import type { RequestView, ResponseView } from './views.js';

/** The limit's verdict on a request. Synchronous unless something was awaited. */
type Outcome<Args extends readonly unknown[]> = MaybePromise<Exchange<Args>>;

/** A limit on requests, the same for all adapters: filters → key → limiter → response headers → verdict. */
export class RequestLimit<Args extends readonly unknown[]> implements OwnLimiter {
  readonly #source: LimiterSource<Args>;
  readonly #options: RequestLimitOptions<Args>;
  readonly #rules: RulesSource<Args> | undefined;
  readonly #keyOf: KeyOfRequest<Args> | RulesSource<Args>['keysOf'];
  readonly #costOf: OfRequest<Args, Cost> | undefined;
  /** The options of `consume`, without a cost that is a function. */
  readonly #consumeOptions: DecisionOptions | undefined;
  readonly #lists: AccessLists<Args> | undefined;
  readonly #responder: Responder<Args>;
  readonly #onFinish: RefundOnFinish<Args>;
  readonly #checks: MisuseChecks | undefined;
  /** Which of several limiters made a decision. */
  readonly #decidedBy = new WeakMap<Decision, RequestLimiter>();

  /**
   * @param attach puts the decision, also a denial, on the framework's request before any option function runs; returns what functions get
   * @param nameFor returns the public name of the limit, for headers and problems; default: its own name
   * @throws RangeError, TypeError naming the invalid option
   */
  constructor(
    private readonly where: string,
    given: RequestLimitOptions<Args>,
    private readonly attach?: (args: Args, decision: Decision) => Decision,
    private readonly nameFor?: OfRequest<Args, string>,
  ) {
    const options = checkRequestLimitOptions(where, given);
    const source = limiterSource(where, options);
    this.#source = source;
    this.#rules = source instanceof RulesSource ? source : undefined;
    const { cost, timeout, dryRun, validate = true } = options;
    this.#options = options;
    this.#keyOf = this.#rules?.keysOf ?? keyOfRequest(where, options);
    if (typeof cost === 'function') this.#costOf = cost;
    const fixed = cost === undefined || typeof cost === 'function' ? undefined : { cost };
    // With a policy for each request, the policies' names are not known yet.
    if (fixed) checkCost(`${where}: cost`, fixed.cost, source.single?.names ?? Object.keys(Object(cost)));
    this.#consumeOptions = dryRun ? { ...fixed, shadow: true } : fixed;
    this.#lists = accessLists(where, options);
    this.#responder = new Responder(where, options, source.name);
    this.#onFinish = new RefundOnFinish(where, options);
    if (timeout !== undefined) toMicros(`${where}: timeout`, timeout, 0);
    if (validate) this.#checks = new MisuseChecks(where, options, source);
  }

  /**
   * Decides and sets the headers of `response`; releases or refunds when it is over. Synchronous unless something is awaited. Throws,
   * or rejects, as `RateLimiter.consume` does; with `throw` also for denials.
   */
  handle(request: RequestView, response: ResponseView, ...args: Args): MaybePromise<Verdict> {
    const responder = this.#responder;
    const exchange: Exchange<Args> = {
      request,
      response,
      args,
      responder,
      reply,
      outcome: 'passed',
      decision: undefined,
      keys: undefined,
      status: undefined,
      matched: undefined,
      denial: undefined,
    };
    try {
      const verdict = this.#evaluate(exchange);
      return 'outcome' in verdict ? verdict : verdict.catch((error) => responder.failed(exchange, error));
    } catch (error) {
      return responder.failed(exchange, error);
    }
  }

  #evaluate(exchange: Exchange<Args>): Outcome<Args> {
    if (this.#options.skip !== undefined || this.#lists !== undefined) return this.#applyFilters(exchange);
    const keys = this.#keyOf(exchange.request, exchange.args, exchange);
    // Not `andThen`: without a closure for each step a request in memory takes a tenth less time.
    if (typeof keys === 'string' || !isPromise(keys)) return this.#count(exchange, keys);
    return keys.then((made) => this.#count(exchange, made));
  }

  async #applyFilters(exchange: Exchange<Args>): Promise<Exchange<Args>> {
    const { request, args } = exchange;
    if (await this.#options.skip?.(...args)) return exchange;
    const keysOf = () => this.#keyOf(request, args, exchange);
    const { listed, keys } = (await this.#lists?.(request, args, keysOf)) ?? {};
    if (listed === 'denied') return this.#responder.forbid(exchange);
    return listed === 'allowed' ? exchange : this.#count(exchange, keys ?? (await keysOf()));
  }

  /** @param keys undefined if no rule is enforced */
  #count(exchange: Exchange<Args>, keys: Keys | undefined): Outcome<Args> {
    const byRules = keys === undefined || exchange.matched !== undefined;
    const chosen = byRules ? this.#rules!.choose(exchange, this.#onFinish) : undefined;
    if (keys === undefined) return exchange;
    exchange.keys = keys;
    if (this.#checks?.active) this.#checks.request(exchange.request, keys);
    if (chosen !== undefined) {
      exchange.responder = chosen.responder;
      return this.#take(exchange, chosen.by, chosen.options);
    }
    const { single } = this.#source;
    if (single !== undefined && this.#costOf === undefined)
      return this.#take(exchange, single, this.#consumeOptions);
    return this.#choose(exchange.args, keys).then(([limiter, options]) =>
      this.#take(exchange, limiter, options),
    );
  }

  /** The limiter and the cost of a request. Awaited in turn: a rejected promise that nothing awaits ends the process. */
  async #choose(args: Args, keys: Keys): Promise<[RequestLimiter, DecisionOptions | undefined]> {
    const limiter = this.#source.single ?? (await this.#source.ofRequest!(args, keyForFunctions(keys)));
    const cost = await this.#costOf?.(...args);
    return [limiter, cost === undefined ? this.#consumeOptions : { ...this.#consumeOptions, cost }];
  }

  #take(exchange: Exchange<Args>, by: RequestLimiter, options?: DecisionOptions): Outcome<Args> {
    const { keys, matched, response } = exchange;
    const timeout = this.#options.dryRun ? undefined : (matched?.timeout ?? this.#options.timeout);
    const decision =
      timeout === undefined
        ? by.consume(keys!, options)
        : by.acquire(keys!, { ...options, timeout }, response);
    if (decision === undefined || 'allowed' in decision) return this.#conclude(exchange, by, decision);
    return decision.then((decided) => this.#conclude(exchange, by, decided));
  }

  /** @param decision undefined if the client disconnected during the wait */
  #conclude(exchange: Exchange<Args>, by: RequestLimiter, decision?: Decision): Outcome<Args> {
    const { args, response, matched, responder } = exchange;
    if (decision === undefined) {
      exchange.outcome = 'aborted';
      return exchange;
    }
    const { onLimited } = this.#options;
    if (this.#source.single === undefined) this.#decidedBy.set(decision, by);
    const seen = this.attach?.(args, decision) ?? decision;
    if (!decision.allowed && isFailureDenial(decision)) return responder.unavailable(exchange, decision);
    exchange.decision = seen;
    if (!decision.allowed && onLimited !== undefined)
      return andThen(onLimited(...args, seen), () => this.#respond(exchange, decision));
    if (decision.allowed) {
      const refund = matched?.enforced?.refund;
      if (by.holds || this.#onFinish.refunds || refund !== undefined)
        this.#onFinish.listen(by, decision, response, args, refund);
    }
    return this.#respond(exchange, decision);
  }

  /** Sets the headers. @param shown the decision under its public name */
  #respond(exchange: Exchange<Args>, decision: Decision, shown?: Decision): Outcome<Args> {
    const { args, response, responder } = exchange;
    if (this.#options.dryRun) return exchange;
    if (shown === undefined && this.nameFor !== undefined) {
      return andThen(this.nameFor(...args), (name) =>
        this.#respond(exchange, decision, renamed(this.where, decision, name)),
      );
    }
    const named = shown ?? decision;
    if (!decision.allowed) return responder.deny(exchange, named);
    // With failurePolicy 'allow' nothing is counted, so there are no numbers to show.
    if (!response.sent && decision.source !== 'allow') responder.writeHeaders(named, response, exchange.keys);
    return exchange;
  }

  /**
   * Decides without a response: sets no headers and refunds nothing.
   * @param peek true takes no permits
   * @returns the key, '' if no rule is enforced, and the decision, undefined also for a request that is skipped or on the `allowList`
   * @throws as `RateLimiter.consume`; RequestForbiddenError for the `denyList`; StoreUnavailableError if the failure policy denies
   */
  async check(
    request: RequestView,
    args: Args,
    peek: boolean,
  ): Promise<{ key: string; decision?: Decision }> {
    const ruled: RuledRequest<Args> = { request, args };
    const finding = (async () => this.#keyOf(request, args, ruled))();
    // A request that is skipped or on a list needs no key.
    const key = keyForFunctions((await finding.catch(() => undefined)) ?? '');
    if (await this.#options.skip?.(...args)) return { key };
    const { listed } = (await this.#lists?.(request, args, () => finding)) ?? {};
    if (listed === 'denied') throw new RequestForbiddenError();
    if (listed === 'allowed') return { key };
    const keys = await finding;
    const chosen = this.#rules?.choose(ruled, peek ? undefined : this.#onFinish);
    if (keys === undefined) return { key };
    const [by, options] = chosen ? [chosen.by, chosen.options] : await this.#choose(args, keys);
    const decision = await (peek ? by.limiter.peek(keys as never, options) : by.consume(keys, options));
    if (this.#source.single === undefined) this.#decidedBy.set(decision, by);
    this.attach?.(args, decision);
    if (isFailureDenial(decision)) throw errorOfDenial(decision);
    return { key, decision };
  }

  get limiter(): RateLimiter {
    const { name } = this.#source;
    const [limiter, another] = Object.values(this.limiters);
    if (limiter === undefined) throw new TypeError(`${this.where}: no rule of '${name}' has a limiter`);
    if (another === undefined) return limiter;
    throw new TypeError(
      `${this.where}: limit '${name}' has several limiters: use limiters.${Object.keys(this.limiters).join(' or limiters.')}`,
    );
  }

  get limiters(): Readonly<Record<string, RateLimiter>> {
    return this.#source.limiters;
  }

  async refund(shown: Decision): Promise<void> {
    const { single, name } = this.#source;
    const decision = decisionOf(shown);
    const by = single ?? this.#decidedBy.get(decision);
    const kind = this.#rules === undefined ? 'limit' : 'the rules';
    if (by === undefined) throw new TypeError(`${this.where}: refund takes a decision of ${kind} '${name}'`);
    await by.limiter.refund(decision);
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  connect(): Promise<void> {
    return connectAtStart(this.#source.store);
  }
}
