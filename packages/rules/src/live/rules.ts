import { type Cost, LimiterClosedError, memoryStore, type RateLimiter, type Store } from '@sluice/core';
import {
  describe,
  didYouMean,
  isPromise,
  type MaybePromise,
  type MeterLimits,
  nearest,
} from '@sluice/core/internal';
import type { NamedRule, RequestRules, RequestView } from '@sluice/http';
import type { Rule, RuleNumbers } from '../compile/rule.js';
import type { RulesDocument } from '../document/schema.js';
import { parseRules } from '../parse-rules.js';
import { RuleSet } from '../rule-set.js';
import { useRules } from './documents-in-use.js';
import { type JoinedRequest, type JoinedRules, joinRequests } from './joined-requests.js';
import { LimiterBank } from './limiter-bank.js';
import { namedRule } from './named-rule.js';
import { RequestCalls } from './request-calls.js';
import { Retired } from './retired.js';
import { NOTHING, outcome, type RulesDecision } from './rules-decision.js';
import { checkRulesOptions, type RulesOptions } from './rules-options.js';
import { decideShadow, type ShadowDecision } from './shadow-decision.js';
import { checkReadings, checkSlots } from './slots.js';
import { InForce } from './version-in-force.js';

/** The rules of a document, in a store. */
export class Rules implements RequestRules {
  readonly store: Store;
  readonly #bank: LimiterBank;
  readonly #ownStore: Store | undefined;
  readonly #retired = new Retired();
  readonly #endUse: () => void;
  #inForce: InForce;
  #closed = false;

  /**
   * @param followed internal: the identity of the source that the rules follow
   * @throws RulesError for a document with problems; RangeError, TypeError naming an invalid option
   */
  constructor(source: RuleSet | string | RulesDocument, options: RulesOptions = {}, followed?: unknown) {
    checkRulesOptions(options);
    const set = source instanceof RuleSet ? source : parseRules(source);
    this.#inForce = new InForce(set);
    this.#ownStore = options.store === undefined ? memoryStore() : undefined;
    this.store = options.store ?? this.#ownStore!;
    this.#bank = new LimiterBank({ ...options, store: this.store });
    this.#prepare(set);
    this.#endUse = useRules(this.store, () => this.ruleSet, followed);
  }

  /** The name of the document, with which the names of all limiters begin. */
  get name(): string {
    return this.ruleSet.name;
  }

  /** The latest version. During a rollout some requests get the version before. */
  get ruleSet(): RuleSet {
    return this.#inForce.latest.set;
  }

  /** The names of the rules for requests whose key, cost or plan reads the body. */
  get bodyRules(): readonly string[] {
    return this.ruleSet.rules.filter(({ readsBody }) => readsBody).map(({ name }) => name);
  }

  /** The limiters by rule name, with the numbers of the default plan. Use them for `peek`, `reset`, `override`, … */
  get limiters(): Readonly<Record<string, RateLimiter>> {
    const limiters = this.#inForce.versions.flatMap(({ set }) =>
      set.rules
        .filter(({ unlimited }) => !unlimited)
        .map((rule) => [rule.name, this.#limiterOf(set, rule)] as const),
    );
    return Object.fromEntries(limiters);
  }

  /**
   * The limiter of a rule, for code. Call it for each use: a kept limiter does not change with the rules.
   * @param plan the plan whose numbers apply; default the `defaultPlan`
   * @throws RangeError for an unknown or an unlimited rule; LimiterClosedError
   */
  limiter(name: string, plan?: string): RateLimiter {
    this.#checkOpen();
    const set = this.#inForce.ofRule(name);
    return this.#limiterOf(set, this.#named(set, name), plan);
  }

  /** A rule for code: its key, and the limiter and the cost of a call. @throws RangeError for an unknown or an unlimited rule */
  rule(name: string): NamedRule {
    this.#checkOpen();
    const current = this.#inForce.ofRule(name);
    return namedRule(current, this.#named(current, name), (set, rule, plan) =>
      this.#limiterOf(set, rule, plan),
    );
  }

  /** A rule of the version that decides for code, also an unlimited one; undefined if there is none of this name. */
  namedRule(name: string): Rule | undefined {
    return this.#inForce.ofRule(name).rule(name);
  }

  /** The options that it was made with, and the store. */
  get options(): RulesOptions {
    return this.#bank.options;
  }

  /**
   * The limits in force of a meter: pass the rules to `meter({ name, rules })` of `@sluice/meter`.
   * @throws RangeError for an unknown meter; LimiterClosedError
   */
  meter(name: string): MeterLimits {
    this.#checkOpen();
    const { meters } = this.#inForce.ofMeter(name);
    const limits = meters.get(name);
    if (limits !== undefined) return limits;
    throw this.#unknown('meter', name, [...meters.keys()]);
  }

  /**
   * The keys, costs and plans of a request; undefined if no rule applies to it.
   * @throws KeyResolutionError if the request lacks the key of an enforced rule, or has no valid cost
   */
  match(view: RequestView): RequestCalls | undefined {
    this.#checkOpen();
    const { set, combinations } = this.#inForce.ofRequest(view);
    const applying = set.applying(view);
    if (applying.length === 0) return undefined;
    checkReadings(set, this.store, applying, view);
    const limiterOf = (rule: Rule, numbers: RuleNumbers) => this.#bank.get(set, rule, numbers);
    return new RequestCalls(set, applying, limiterOf, combinations);
  }

  /**
   * The rules of several requests that are decided together, all or nothing, such as the descriptors of one call of Envoy.
   * @returns `members`: the names of each request's rules in the decision, undefined for a request that `match` refuses. Undefined if
   *   they cannot be decided together: in a Redis Cluster without a `hashTag`, if a rollout has them under different versions, and if one
   *   rule applies to one key with the numbers of two plans
   */
  matchAll(
    requests: readonly JoinedRequest[],
  ): { readonly calls: RequestCalls | undefined; readonly members: JoinedRules['members'] } | undefined {
    this.#checkOpen();
    const versions = new Set(requests.map(({ view }) => this.#inForce.ofRequest(view)));
    const [version] = versions;
    if (version === undefined || versions.size > 1) return undefined;
    const { set, combinations } = version;
    if (this.store.slotted && set.document.hashTag === undefined) return undefined;
    const joined = joinRequests(set, requests);
    if (joined === undefined) return undefined;
    const { applying, members } = joined;
    const limiterOf = (rule: Rule, numbers: RuleNumbers) => this.#bank.get(set, rule, numbers);
    const calls =
      applying.length === 0 ? undefined : new RequestCalls(set, applying, limiterOf, combinations);
    return { calls, members };
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

  /**
   * Activates another version, whole: each request is decided by one version. Keys keep their counts, and limiters that do not
   * change stay. Limiters of removed rules are closed once their pending requests are decided.
   * @param before the version that callers outside of its `rollout` keep. Without one, all callers get the new version.
   */
  replace(set: RuleSet, before?: RuleSet): void {
    this.#checkOpen();
    const next = new InForce(set, before);
    for (const version of next.versions) this.#prepare(version.set);
    for (const { combinations } of this.#inForce.versions) this.#retired.add(combinations);
    this.#inForce = next;
    this.#bank.keep(next.versions.flatMap(({ set }) => set.rules.map((rule) => [set, rule] as const)));
  }

  /** Ends the limiters, and the store if none was passed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#endUse();
    await this.#retired.close();
    await Promise.all(this.#inForce.versions.map(({ combinations }) => combinations.close()));
    await this.#bank.close();
    await this.#ownStore?.close();
  }

  /**
   * Creates the limiters now, so that an invalid option throws before the first call.
   * @throws TypeError if a Redis Cluster cannot decide these rules together
   */
  #prepare(set: RuleSet): void {
    checkSlots(set, this.store);
    for (const rule of set.rules) if (!rule.unlimited) this.#limiterOf(set, rule);
  }

  /** @throws RangeError */
  #named(set: RuleSet, name: string): Rule {
    const { rules } = set;
    const rule = set.rule(name);
    if (rule?.unlimited) throw new RangeError(`Rule '${name}' is unlimited and has no limiter`);
    if (rule !== undefined) return rule;
    throw this.#unknown(
      'rule',
      name,
      rules.map((one) => one.name),
    );
  }

  #unknown(kind: 'rule' | 'meter', name: string, known: readonly string[]): RangeError {
    const meant = didYouMean(nearest(String(name), known));
    return new RangeError(`Rules '${this.name}' have no ${kind} ${describe(name)}${meant}`);
  }

  #limiterOf(set: RuleSet, rule: Rule, plan?: string): RateLimiter {
    return this.#bank.get(set, rule, rule.numbersOf(plan));
  }

  #checkOpen(): void {
    if (this.#closed) throw new LimiterClosedError(`Rules '${this.name}' were closed`);
  }
}

const costOf = (cost: Cost | undefined) => (cost === undefined ? undefined : { cost });
