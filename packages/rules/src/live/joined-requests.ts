import { isKeyResolutionError } from '@sluice/core';
import type { RequestView } from '@sluice/http';
import type { ApplyingRule, MatchedRule, RuleSet } from '../rule-set.js';
import { memberOf } from './combinations.js';

/** One of several requests that are decided together. */
export interface JoinedRequest {
  readonly view: RequestView;
  /** The permits that each rule takes; undefined: as the rules say. */
  readonly cost?: number | undefined;
}

/** The rules of several requests, as of one. */
export interface JoinedRules {
  readonly applying: readonly ApplyingRule[];
  /** The names of each request's rules in the decision; undefined if it lacks a key or has no valid cost. */
  readonly members: readonly (readonly string[] | undefined)[];
}

type Joined = ApplyingRule & { call: (MatchedRule & { cost: number }) | undefined };

/**
 * A rule that applies again has the member `user#2`, or takes more permits if the key is the same.
 * @returns undefined if a rule applies to one key with the numbers of two plans: a store decides each key once, by one limit
 */
export function joinRequests(set: RuleSet, requests: readonly JoinedRequest[]): JoinedRules | undefined {
  let hasTwoPlans = false;
  const applying: ApplyingRule[] = [];
  const byKey = new Map<string, Joined>();
  const uses = new Map<string, number>();
  const members = requests.map((request) => {
    const own = resolved(set, request);
    return own?.flatMap((one) => {
      const { rule, call } = one;
      if (rule.mode === 'shadow' || call === undefined) {
        applying.push(one);
        return [];
      }
      const id = JSON.stringify([rule.name, call.key]);
      const before = byKey.get(id)?.call;
      if (before !== undefined) {
        hasTwoPlans ||= before.plan !== call.plan;
        before.cost = Math.min(before.cost + call.cost, Number.MAX_SAFE_INTEGER);
        return [memberOf(before)];
      }
      const use = (uses.get(rule.name) ?? 0) + 1;
      uses.set(rule.name, use);
      const joined = { ...one, call: use === 1 ? call : { ...call, member: `${rule.name}#${use}` } };
      byKey.set(id, joined);
      applying.push(joined);
      return [memberOf(joined.call)];
    });
  });
  return hasTwoPlans ? undefined : { applying, members };
}

/** @returns undefined if the request lacks the key of an enforced rule, or has no valid cost */
function resolved(set: RuleSet, { view, cost }: JoinedRequest): Joined[] | undefined {
  const found: Joined[] = [];
  for (const one of set.applying(view)) {
    const { rule } = one;
    try {
      const call = one.call ?? { rule, ...rule.resolve(one.view) };
      found.push({ ...one, call: { ...call, cost: cost ?? call.cost } });
    } catch (error) {
      // The error of a shadow rule is reported when the rule is counted.
      if (rule.mode === 'shadow') found.push({ ...one, call: undefined });
      else if (isKeyResolutionError(error)) return undefined;
      else throw error;
    }
  }
  return found;
}
