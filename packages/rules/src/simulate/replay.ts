import { type Decision, memoryStore, type PolicyDecision, type Store } from '@sluice/core';
import { isPromise, type MaybePromise } from '@sluice/core/internal';
import type { RuledCall } from '@sluice/http';
import type { RequestCalls } from '../live/request-calls.js';
import { Rules } from '../live/rules.js';
import { decideShadow, type ShadowDecision } from '../live/shadow-decision.js';
import type { MatchedRule, RuleSet } from '../rule-set.js';
import { Assumptions } from './assumptions.js';
import { KeyPlaces } from './figures/key-uses.js';
import { RuleFigures } from './figures/rule-figures.js';
import type { LogRequest } from './log/log-request.js';
import { LoggedRules } from './logged-rules.js';
import { ReplayClock } from './replay-clock.js';
import type { ReplayReport } from './report.js';

/** The decision of the rules on one request of a log. */
export interface Replayed {
  readonly allowed: boolean;
  /** The decision of all enforced rules together; undefined if none applies. */
  readonly decision: Decision | undefined;
  /** The rule that denied, and its key. */
  readonly deniedBy: MatchedRule | undefined;
  readonly shadows: readonly ShadowDecision[];
}

const UNLIMITED: Replayed = { allowed: true, decision: undefined, deniedBy: undefined, shadows: [] };

export interface ReplayOptions {
  /** The most keys in the store, and of each rule's figures; default 1,000,000. */
  readonly maxKeys?: number | undefined;
  /** @internal Counts on the clock of this replay. Default: a memory store. */
  readonly storeOn?: ((clock: ReplayClock) => Store) | undefined;
}

/** Decides the requests of a log, on the log's clock, with the same code that decides live requests. */
export class Replay {
  readonly #clock = new ReplayClock();
  readonly #rules: Rules;
  readonly #set: LoggedRules;
  readonly #store: Store;
  readonly #maxKeys: number;
  readonly #assumptions: Assumptions;
  readonly #figures: ReadonlyMap<string, RuleFigures>;
  #requests = 0;
  #denied = 0;
  #unlimited = 0;
  #storeFull = false;

  constructor(set: RuleSet, { maxKeys = 1_000_000, storeOn }: ReplayOptions = {}) {
    this.#maxKeys = maxKeys;
    this.#set = new LoggedRules(set);
    this.#assumptions = new Assumptions(set);
    this.#store = storeOn?.(this.#clock) ?? memoryStore({ clock: this.#clock, maxKeys, definitions: false });
    this.#rules = new Rules(this.#set, { store: this.#store });
    const places = new Map(set.rules.map(({ keyKind }) => [keyKind, new KeyPlaces()]));
    this.#figures = new Map(
      set.rules.map((rule) => [rule.name, new RuleFigures(rule, maxKeys, places.get(rule.keyKind)!)]),
    );
  }

  /** Decides the next request. @returns a promise only if a task runs before it, or the store is remote */
  decide(request: LogRequest): MaybePromise<Replayed> {
    const moved = this.#clock.moveTo(request.time);
    return moved === undefined ? this.#decide(request) : moved.then(() => this.#decide(request));
  }

  #decide(request: LogRequest): MaybePromise<Replayed> {
    this.#requests += 1;
    this.#assumptions.see(request);
    const calls = this.#rules.match(request);
    if (calls === undefined) {
      this.#unlimited += 1;
      return UNLIMITED;
    }
    const { last } = this.#set;
    const { enforced } = calls;
    const options = enforced?.cost === undefined ? undefined : { cost: enforced.cost };
    const decision = enforced?.consume(enforced.keys as never, options);
    const shadows = calls.shadows.map(decideShadow);
    const done = (one: Decision | undefined, others: readonly ShadowDecision[]) =>
      this.#decided(request, calls, last, one, others);
    if (!isPromise(decision) && !shadows.some(isPromise)) return done(decision, shadows as ShadowDecision[]);
    return Promise.all([decision, Promise.all(shadows)]).then(([one, others]) => done(one, others));
  }

  #decided(
    request: LogRequest,
    calls: RequestCalls,
    last: readonly MatchedRule[],
    decision: Decision | undefined,
    shadows: readonly ShadowDecision[],
  ): Replayed {
    const now = this.#clock.now();
    const allowed = decision?.allowed !== false;
    if (!allowed) this.#denied += 1;
    if ((this.#store as { size?: number }).size === this.#maxKeys) this.#storeFull = true;
    if (decision !== undefined) {
      this.#count(now, calls.matched, decision.policies);
      this.#endLater(request, calls.enforced!, decision);
    }
    calls.shadows.forEach((call, i) => {
      const shadow = shadows[i]!.decision;
      const matched = last.find(({ rule }) => rule === call.rule);
      if (shadow === undefined || matched === undefined || 'error' in call) return;
      this.#count(now, [matched], shadow.policies);
      this.#endLater(request, call, shadow);
    });
    const denier = decision && calls.deniedBy(decision);
    return { allowed, decision, deniedBy: calls.matched.find(({ rule }) => rule === denier), shadows };
  }

  /** @param policies the policies of all rules, in their order */
  #count(now: number, matched: readonly MatchedRule[], policies: readonly PolicyDecision[]): void {
    let at = 0;
    for (const one of matched) at += this.#figures.get(one.rule.name)!.count(now, one, policies, at);
  }

  /** When the request ends, releases held permits, and refunds the permits of rules that do not count it. */
  #endLater({ duration = 0, status }: LogRequest, { limiter, refund }: RuledCall, decision: Decision): void {
    if (!decision.allowed) return;
    const refunds = refund !== undefined && status !== undefined;
    if (!refunds && !decision.policies.some(({ held }) => held)) return;
    const end = () => (refunds ? refund(decision, status < 400) : limiter.release(decision));
    this.#clock.at(this.#clock.now() + duration, end);
  }

  get report(): ReplayReport {
    const set = this.#set;
    const matching = set.rules.filter(({ matcher }) => matcher !== undefined);
    return {
      name: set.file ?? set.name,
      version: set.version,
      requests: this.#requests,
      denied: this.#denied,
      unlimited: this.#unlimited,
      rules: matching.flatMap((rule) => {
        const unresolved = set.unresolved.get(rule.name);
        return rule.unlimited
          ? []
          : [
              {
                ...this.#figures.get(rule.name)!.report,
                unresolved,
                assumed: this.#assumptions.ofRule(rule.name),
              },
            ];
      }),
      rulesForCode: set.rules.filter(({ matcher }) => matcher === undefined).map(({ name }) => name),
      storeFull: this.#storeFull,
    };
  }

  async close(): Promise<void> {
    await this.#rules.close();
    await this.#store.close();
  }
}
