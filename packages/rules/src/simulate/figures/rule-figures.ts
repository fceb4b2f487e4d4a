import type { LimiterPolicies, Policy, PolicyDecision } from '@sluice/core';
import { SpaceSaving } from '@sluice/fleet/internal';
import type { Rule } from '../../compile/rule.js';
import type { MatchedRule } from '../../rule-set.js';
import type { HitKey, LimitReport, RuleReport } from '../report.js';
import { boundedKey, type KeyPlaces, KeyUses } from './key-uses.js';
import { TimeSeries } from './time-series.js';

/** The number of keys whose denials are counted exactly. With more keys, counts have errors. */
const CANDIDATES = 10_000;
export const SHOWN_KEYS = 10;

/** The policies of a rule by name; a single limit has the rule's name. */
export const namedPolicies = (rule: string, limits: LimiterPolicies): [name: string, Policy][] =>
  typeof limits.algorithm === 'string'
    ? [[rule, limits as Policy]]
    : Object.entries(limits as Readonly<Record<string, Policy>>).map(([limit, policy]) => [
        `${rule}.${limit}`,
        policy,
      ]);

interface LimitCounts {
  readonly id: string;
  readonly name: string;
  readonly plan: string | undefined;
  readonly policy: Policy;
  requests: number;
  denied: number;
}

/** The figures of one rule in a replay, in bounded memory. */
export class RuleFigures {
  #requests = 0;
  #denied = 0;
  readonly #keys: KeyUses;
  readonly #hit = new SpaceSaving(CANDIDATES);
  readonly #series = new TimeSeries();
  readonly #byPolicies = new Map<LimiterPolicies, readonly LimitCounts[]>();

  /**
   * @param most keys that are kept
   * @param places shared by rules with the same key
   */
  constructor(
    readonly rule: Rule,
    most: number,
    places: KeyPlaces,
  ) {
    this.#keys = new KeyUses(most, places);
  }

  /**
   * Counts a decision.
   * @param policies of all rules, in their order
   * @param from the first one of this rule
   * @returns the number of policies of this rule
   */
  count(
    time: number,
    { key, plan, limits }: MatchedRule,
    policies: readonly PolicyDecision[],
    from: number,
  ): number {
    let counts = this.#byPolicies.get(limits);
    if (counts === undefined) {
      counts = namedPolicies(this.rule.name, limits).map(([name, policy]) => ({
        ...{ id: `${name} ${plan ?? ''}`, name, plan, policy, requests: 0, denied: 0 },
      }));
      this.#byPolicies.set(limits, counts);
    }
    const place = this.#keys.placeOf(key);
    let denied = false;
    for (let i = 0; i < counts.length; i += 1) {
      const limit = counts[i]!;
      const { retryAfter, remaining, limit: most } = policies[from + i]!;
      limit.requests += 1;
      if (retryAfter > 0) {
        limit.denied += 1;
        denied = true;
      }
      const used = most > 0 ? Math.min(1, Math.max(0, (most - remaining) / most)) : 1;
      if (place !== undefined) this.#keys.used(place, limit.id, used);
    }
    this.#requests += 1;
    this.#series.add(time, denied);
    if (denied) {
      this.#denied += 1;
      this.#hit.add(boundedKey(key), 1);
    }
    return counts.length;
  }

  get report(): Omit<RuleReport, 'unresolved' | 'assumed'> {
    const { name, mode, compare, keyKind } = this.rule;
    return {
      rule: name,
      mode,
      compare,
      key: keyKind,
      requests: this.#requests,
      denied: this.#denied,
      keys: this.#keys.size,
      moreKeys: this.#keys.more,
      limits: [...this.#byPolicies.values()].flat().map((counts) => this.#limitReport(counts)),
      hit: heaviestOf(this.#hit),
      overTime: this.#series.overTime,
    };
  }

  #limitReport({ id, name, plan, policy, requests, denied }: LimitCounts): LimitReport {
    return { limit: name, plan, policy, requests, denied, ...this.#keys.usesOf(id), smallest: undefined };
  }
}

/** The heaviest keys, in descending order. */
export function heaviestOf(counts: SpaceSaving, most = SHOWN_KEYS): HitKey[] {
  return [...counts.summary.entries]
    .sort((one, other) => other.count - one.count || (one.key < other.key ? -1 : 1))
    .slice(0, most)
    .map(({ key, count, error }) => ({ key, requests: count, error }));
}
