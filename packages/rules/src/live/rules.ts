import {
  type Cost,
  type Decision,
  LimiterClosedError,
  type LimiterPolicies,
  memoryStore,
  type RateLimiter,
  type Store,
} from '@sluice/core';
import {
  describe,
  isPromise,
  type MaybePromise,
  type NamedRule,
  type RequestRules,
  type RequestView,
} from '@sluice/core/http';
import type { Rule } from '../compile/rule.js';
import { nearest } from '../document/problems.js';
import type { RulesDocument } from '../document/schema.js';
import { parseRules } from '../parse-rules.js';
import { type MatchedRule, RuleSet } from '../rule-set.js';
import { Combinations } from './combinations.js';
import { LimiterBank } from './limiter-bank.js';
import { namedRule } from './named-rule.js';
import { RequestCalls } from './request-calls.js';
import { checkRulesOptions, type RulesOptions } from './rules-options.js';
import { decideShadow, type ShadowDecision } from './shadow-decision.js';
import { checkSlots } from './slots.js';

/** What the rules say to a request. */
export interface RulesDecision {
  /** True also if no rule applies. */
  readonly allowed: boolean;
  /** Of all enforced rules together; undefined if none applies. Its policies are named `rule.limit`, or `rule` with a single `limit`. */
  readonly decision: Decision | undefined;
  /** The enforced rules that were decided. */
  readonly matched: readonly MatchedRule[];
  /** The rule that denied. */
  readonly deniedBy: Rule | undefined;
  readonly shadows: readonly ShadowDecision[];
}

const NOTHING: RulesDecision = {
  allowed: true,
  decision: undefined,
  matched: [],
  deniedBy: undefined,
  shadows: [],
};

/** The rules of a document, in a store. */
export class Rules implements RequestRules {
  readonly store: Store;
  readonly #bank: LimiterBank;
  readonly #ownStore: Store | undefined;
  #set: RuleSet;
  #combinations = new Combinations();
  #closed = false;

  /** @throws RulesError for a document with problems; RangeError, TypeError naming an invalid option */
  constructor(source: RuleSet | string | RulesDocument, options: RulesOptions = {}) {
    checkRulesOptions(options);
    this.#set = source instanceof RuleSet ? source : parseRules(source);
    this.#ownStore = options.store === undefined ? memoryStore() : undefined;
    this.store = options.store ?? this.#ownStore!;
    this.#bank = new LimiterBank({ ...options, store: this.store });
    this.#prepare(this.#set);
  }

  /** Of the document: the start of the names of all limiters. */
  get name(): string {
    return this.#set.name;
  }

  /** The rules in force. */
  get ruleSet(): RuleSet {
    return this.#set;
  }

  /** The limiters by the names of their rules, with the numbers of the default plan. For `peek`, `reset`, `override`, … */
  get limiters(): Readonly<Record<string, RateLimiter>> {
    const limited = this.#set.rules.filter(({ unlimited }) => !unlimited);
    return Object.fromEntries(limited.map((rule) => [rule.name, this.#limiterOf(this.#set, rule)]));
  }

  /**
   * The limiter of a rule, for code. Call it for each use instead of keeping the limiter: then a change of the rules applies.
   * @param plan the plan whose numbers it has; default the `defaultPlan`
   * @throws RangeError for an unknown or an unlimited rule; LimiterClosedError
   */
  limiter(name: string, plan?: string): RateLimiter {
    this.#checkOpen();
    return this.#limiterOf(this.#set, this.#named(name), plan);
  }

  /** A rule for code: its key, and the limiter and the cost of a call. @throws RangeError for an unknown or an unlimited rule */
  rule(name: string): NamedRule {
    this.#checkOpen();
    return namedRule(this.#set, this.#named(name), (set, rule, plan) => this.#limiterOf(set, rule, plan));
  }

  /**
   * What a request counts for; undefined if no rule applies to it.
   * @throws KeyResolutionError if the request lacks the key of an enforced rule, or has no valid cost
   */
  match(view: RequestView): RequestCalls | undefined {
    this.#checkOpen();
    const set = this.#set;
    const applying = set.applying(view);
    if (applying.length === 0) return undefined;
    const limiterOf = (rule: Rule, limits: LimiterPolicies) => this.#withPolicies(set, rule, limits);
    return new RequestCalls(set, applying, limiterOf, this.#combinations);
  }

  /**
   * Decides a request by all rules that apply to it: together, all or nothing, and in one call to the store. Shadow rules are counted in the
   * same call. Returns at once if the store needs no network.
   * @throws as `CombinedLimiter.consume` does; KeyResolutionError as `match`
   */
  decide(view: RequestView): MaybePromise<RulesDecision> {
    const calls = this.match(view);
    if (calls === undefined) return NOTHING;
    const { enforced } = calls;
    const decision = enforced?.consume(enforced.keys as never, costOf(enforced.cost));
    const shadows = calls.shadows.map(decideShadow);
    if (!isPromise(decision) && !shadows.some(isPromise)) {
      return outcome(calls, decision, shadows as ShadowDecision[]);
    }
    return Promise.all([decision, Promise.all(shadows)]).then(([one, others]) => outcome(calls, one, others));
  }

  /** Puts another version in force, at once and whole. Keys keep their counts. */
  replace(set: RuleSet): void {
    this.#checkOpen();
    this.#prepare(set);
    this.#set = set;
    this.#combinations = new Combinations();
  }

  /** Ends the limiters, and the store if none was passed. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#combinations.close();
    await this.#bank.close();
    await this.#ownStore?.close();
  }

  /**
   * Creates the limiters now, so what is wrong with an option is known before the first call.
   * @throws TypeError if a Redis Cluster cannot decide these rules together
   */
  #prepare(set: RuleSet): void {
    checkSlots(set, this.store);
    for (const rule of set.rules) if (!rule.unlimited) this.#limiterOf(set, rule);
  }

  /** @throws RangeError */
  #named(name: string): Rule {
    const { rules } = this.#set;
    const rule = this.#set.rule(name);
    if (rule?.unlimited) throw new RangeError(`Rule '${name}' is unlimited and has no limiter`);
    if (rule !== undefined) return rule;
    const hint = nearest(
      String(name),
      rules.map((one) => one.name),
    );
    const meant = hint === undefined ? '' : `; did you mean '${hint}'?`;
    throw new RangeError(`Rules '${this.name}' have no rule ${describe(name)}${meant}`);
  }

  #limiterOf(set: RuleSet, rule: Rule, plan?: string): RateLimiter {
    return this.#withPolicies(set, rule, rule.policiesOf(plan).limits);
  }

  #withPolicies(set: RuleSet, rule: Rule, limits: LimiterPolicies): RateLimiter {
    return this.#bank.get(`${set.name}.${rule.name}`, set.document.hashTag, limits);
  }

  #checkOpen(): void {
    if (this.#closed) throw new LimiterClosedError(`Rules '${this.#set.name}' were closed`);
  }
}

const costOf = (cost: Cost | undefined) => (cost === undefined ? undefined : { cost });

function outcome(
  calls: RequestCalls,
  decision: Decision | undefined,
  shadows: readonly ShadowDecision[],
): RulesDecision {
  const deniedBy = decision && calls.deniedBy(decision);
  return { allowed: decision?.allowed !== false, decision, matched: calls.matched, deniedBy, shadows };
}
