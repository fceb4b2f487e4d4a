import type { Decision, DecisionOptions, RateLimiter, Store } from '@sluice/core';
import {
  andThen,
  describe,
  getOrCreate,
  isPromise,
  type MaybePromise,
  noEffect,
} from '@sluice/core/internal';
import { warnOfDryRun } from './key-errors.js';
import type { RefundOnFinish } from './refund-on-finish.js';
import {
  CHOICE_OPTIONS,
  KEY_OPTIONS,
  type Keys,
  LIMITER_OPTIONS,
  type RequestLimitOptions,
} from './request-limit-options.js';
import { type LimiterSource, RequestLimiter } from './request-limiter.js';
import type { FailedShadow, RequestRules, RuledCall } from './request-rules.js';
import { type Exchange, Responder } from './responder.js';
import type { RequestView } from './views.js';

/** A request with its rules, perhaps without a response. */
export type RuledRequest<Args extends readonly unknown[]> = Partial<Exchange<Args>> &
  Pick<Exchange<Args>, 'request' | 'args'>;

/** What all requests of one limiter need. */
interface Prepared<Args extends readonly unknown[]> {
  readonly by: RequestLimiter;
  /** Of its own: it caches what depends on the limiter's policies. */
  readonly responder: Responder<Args>;
}

const SHADOW: DecisionOptions = { shadow: true };

/** The limiters of the rules that match a request. */
export class RulesSource<Args extends readonly unknown[]> implements LimiterSource<Args> {
  readonly name: string;
  readonly store: Store;
  readonly single = undefined;
  readonly #rules: RequestRules;
  /** Limiters of earlier versions go with their last request. */
  readonly #prepared = new WeakMap<RuledCall['limiter'], Prepared<Args>>();

  /** @throws TypeError if `rules` are none, or naming an option that has no effect with them */
  constructor(
    private readonly where: string,
    private readonly options: RequestLimitOptions<Args>,
  ) {
    const { rules } = options;
    checkRules(where, rules);
    checkBesideRules(where, options);
    this.#rules = rules;
    this.name = rules.name;
    this.store = rules.store;
  }

  get limiters(): Readonly<Record<string, RateLimiter>> {
    return this.#rules.limiters;
  }

  /** Finds the rules of a request. @returns the keys that it counts for; undefined if no rule is enforced */
  readonly keysOf = (
    request: RequestView,
    _args: Args,
    ruled: RuledRequest<Args>,
  ): MaybePromise<Keys | undefined> =>
    andThen(this.#rules.match(request), (matched) => {
      ruled.matched = matched;
      return matched?.enforced?.keys;
    });

  /**
   * Counts a request for its shadow rules: in the turn in which the caller counts it for the others, so all are in one call to the store.
   * @param onFinish undefined: no shadows are counted
   * @returns the enforced rules; undefined if there are none
   */
  choose(
    request: RuledRequest<Args>,
    onFinish: RefundOnFinish<Args> | undefined,
  ): (Prepared<Args> & { readonly options: DecisionOptions | undefined }) | undefined {
    const { matched } = request;
    if (matched === undefined) return undefined;
    const { shadows, enforced } = matched;
    if (onFinish !== undefined) for (const call of shadows) this.#shadow(call, request, onFinish);
    if (enforced === undefined) return undefined;
    const { by, responder } = this.#prepare(enforced.limiter);
    return { by, responder, options: optionsOf(enforced, this.options.dryRun ? SHADOW : undefined) };
  }

  #prepare(limiter: RuledCall['limiter']): Prepared<Args> {
    return getOrCreate(this.#prepared, limiter, () => ({
      by: new RequestLimiter(limiter, this.where, this.options),
      responder: new Responder(this.where, this.options, this.name),
    }));
  }

  /** What goes wrong in a shadow rule does not concern the request. */
  #shadow(
    call: RuledCall | FailedShadow,
    { response, args }: RuledRequest<Args>,
    onFinish: RefundOnFinish<Args>,
  ): void {
    if ('error' in call) {
      warnOfDryRun(call.name, call.error);
      return;
    }
    const { name } = call.limiter;
    const { by } = this.#prepare(call.limiter);
    const decided = (decision: Decision) => {
      if (response === undefined || !decision.allowed) return;
      if (by.holds || onFinish.refunds || call.refund !== undefined)
        onFinish.listen(by, decision, response, args, call.refund);
    };
    try {
      const decision = by.consume(call.keys, optionsOf(call, SHADOW));
      if (isPromise(decision)) decision.then(decided).catch((error) => warnOfDryRun(name, error));
      else decided(decision);
    } catch (error) {
      warnOfDryRun(name, error);
    }
  }

  /** The rules belong to the program. */
  async close(): Promise<void> {}
}

/** The options of `consume` for a call. @param base without the cost */
const optionsOf = ({ cost }: RuledCall, base: DecisionOptions | undefined): DecisionOptions | undefined =>
  cost === undefined ? base : { ...base, cost };

/** @throws TypeError if the option `rules` is something else */
export function checkRules(where: string, rules: unknown): asserts rules is RequestRules {
  const { match, rule } = (rules ?? {}) as Partial<RequestRules>;
  if (typeof match === 'function' && typeof rule === 'function') return;
  const remedy =
    rules instanceof Promise
      ? 'await them before: rules: await loadRules(…)'
      : `pass the result of loadRules or new Rules(…), not ${describe(rules)}`;
  throw new TypeError(`${where}: rules must be rules of @sluice/rules: ${remedy}`);
}

/** @throws TypeError naming an option that has no effect beside `rules` */
function checkBesideRules(where: string, options: RequestLimitOptions<never>): void {
  const given = (names: readonly (keyof RequestLimitOptions<never>)[]) =>
    names.find((name) => options[name] !== undefined);
  const choice = given(['limiter', ...CHOICE_OPTIONS]);
  if (choice !== undefined) throw new TypeError(`${where}: pass rules or ${choice}, not both`);
  const idle = (option: string, remedy: string) => noEffect(where, option, `with rules: ${remedy}`);
  if (options.user !== undefined) throw idle('user', "write a key such as '#{user.uid}' in the document");
  const inDocument = given([...KEY_OPTIONS, 'cost']);
  if (inDocument !== undefined) throw idle(inDocument, 'each rule has its own: set it in the document');
  const ofLimiters = given(LIMITER_OPTIONS);
  if (ofLimiters !== undefined)
    throw idle(ofLimiters, 'all limiters are those of the rules: pass it where you create the rules');
}
