import { type Decision, LimiterClosedError, memoryStore, type RateLimiter, type Store } from '@sluice/core';
import { BaseLimiter, describe, isPromise, type MaybePromise, type RequestView } from '@sluice/core/http';
import type { Rule } from '../compile/rule.js';
import { nearest } from '../document/problems.js';
import type { RulesDocument } from '../document/schema.js';
import { parseRules } from '../parse-rules.js';
import { type ApplyingRule, type MatchedRule, RuleSet } from '../rule-set.js';
import { Combinations } from './combinations.js';
import { LimiterBank } from './limiter-bank.js';
import { checkRulesOptions, type RulesOptions } from './rules-options.js';

/** What a shadow rule would have decided. */
export interface ShadowDecision {
  readonly rule: Rule;
  /** Undefined with an `error`. */
  readonly decision: Decision | undefined;
  /** Why the rule could not decide, such as a missing key. It does not concern the request. */
  readonly error: unknown;
}

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
export class Rules {
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
    for (const rule of this.#set.rules)
      if (!rule.unlimited) this.#limiterOf(this.#set, rule, rule.policiesOf().limits);
  }

  /** The rules in force. */
  get ruleSet(): RuleSet {
    return this.#set;
  }

  /**
   * The limiter of a rule, for code. Call it for each use instead of keeping the limiter: then a change of the rules applies.
   * @param plan the plan whose numbers it has; default the `defaultPlan`
   * @throws RangeError for an unknown or an unlimited rule; LimiterClosedError
   */
  limiter(name: string, plan?: string): RateLimiter {
    this.#checkOpen();
    const rule = this.#set.rule(name);
    if (rule === undefined || rule.unlimited) {
      const hint = nearest(
        String(name),
        this.#set.rules.map((one) => one.name),
      );
      throw new RangeError(
        rule === undefined
          ? `Rules '${this.#set.name}' have no rule ${describe(name)}${hint === undefined ? '' : `; did you mean '${hint}'?`}`
          : `Rule '${name}' is unlimited and has no limiter`,
      );
    }
    return this.#limiterOf(this.#set, rule, rule.policiesOf(plan).limits);
  }

  /**
   * Decides a request by all rules that apply to it: together, all or nothing, and in one call to the store. Shadow rules are counted in the
   * same call. Returns at once if the store needs no network.
   * @throws as `CombinedLimiter.consume` does; KeyResolutionError if the request lacks the key of an enforced rule
   */
  decide(view: RequestView): MaybePromise<RulesDecision> {
    this.#checkOpen();
    const set = this.#set;
    const applying = set.applying(view);
    if (applying.length === 0) return NOTHING;
    const matched = applying.flatMap(({ rule, view }) =>
      rule.mode === 'enforce' ? [{ rule, ...rule.resolve(view) }] : [],
    );
    const decision = matched.length === 0 ? undefined : this.#consume(set, matched);
    const shadows = applying.flatMap((one) => (one.rule.mode === 'shadow' ? [this.#shadow(set, one)] : []));
    if (!isPromise(decision) && !shadows.some(isPromise))
      return outcome(matched, decision, shadows as ShadowDecision[]);
    return Promise.all([decision, Promise.all(shadows)]).then(([one, others]) =>
      outcome(matched, one, others),
    );
  }

  /** Puts another version in force, at once and whole. Keys keep their counts. */
  replace(set: RuleSet): void {
    this.#checkOpen();
    for (const rule of set.rules) if (!rule.unlimited) this.#limiterOf(set, rule, rule.policiesOf().limits);
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

  #limiterOf(set: RuleSet, rule: Rule, limits: MatchedRule['limits']): RateLimiter {
    return this.#bank.get(`${set.name}.${rule.name}`, set.document.hashTag, limits);
  }

  #consume(set: RuleSet, matched: readonly MatchedRule[]): MaybePromise<Decision> {
    const combination = this.#combinations.get(set.name, matched, () =>
      matched.map(({ rule, limits }) => this.#limiterOf(set, rule, limits)),
    );
    const keys = Object.fromEntries(matched.map(({ rule, key }) => [rule.name, key]));
    if (matched.every(({ cost }) => cost === 1)) return combination.consume(keys);
    return combination.consume(keys, {
      cost: Object.fromEntries(matched.map(({ rule, cost }) => [rule.name, cost])),
    });
  }

  /** Never throws: what goes wrong in a shadow does not concern the request. */
  #shadow(set: RuleSet, { rule, view }: ApplyingRule): MaybePromise<ShadowDecision> {
    const failed = (error: unknown): ShadowDecision => ({ rule, decision: undefined, error });
    const decided = (decision: Decision): ShadowDecision => ({ rule, decision, error: undefined });
    try {
      const { key, cost, limits } = rule.resolve(view);
      const limiter = this.#limiterOf(set, rule, limits);
      const decision = BaseLimiter.consumer(limiter)(key, { cost, shadow: true });
      return isPromise(decision) ? decision.then(decided, failed) : decided(decision);
    } catch (error) {
      return failed(error);
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new LimiterClosedError(`Rules '${this.#set.name}' were closed`);
  }
}

function outcome(
  matched: readonly MatchedRule[],
  decision: Decision | undefined,
  shadows: readonly ShadowDecision[],
): RulesDecision {
  const allowed = decision?.allowed !== false;
  const [name] = allowed ? [] : decision!.policy.split('.');
  const deniedBy = matched.find(({ rule }) => rule.name === name)?.rule;
  return { allowed, decision, matched, deniedBy, shadows };
}
