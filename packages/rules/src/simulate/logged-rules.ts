import { isKeyResolutionError } from '@sluice/core';
import type { RequestView } from '@sluice/http';
import { type ApplyingRule, type MatchedRule, RuleSet } from '../rule-set.js';
import type { LogRequest } from './log/log-request.js';

/** Requests that a rule could not count. */
export interface Unresolved {
  requests: number;
  /** The first such request. */
  readonly example: { readonly file: string; readonly line: number; readonly reason: string };
}

/** Rules for the requests of a log, which can lack the values of a key: then the rule is omitted and noted. */
export class LoggedRules extends RuleSet {
  /** By the names of the rules. */
  readonly unresolved = new Map<string, Unresolved>();
  /** The rules of the last request, with keys. */
  last: readonly MatchedRule[] = [];

  constructor(set: RuleSet) {
    super(set.document, set.rules, set.file, set.tests, set.meters);
  }

  /** The rules that apply and have a key. */
  override applying(view: RequestView): ApplyingRule[] {
    const found = super.applying(view);
    const last: MatchedRule[] = [];
    for (const one of found) {
      one.call = this.#resolve(one, view as LogRequest);
      if (one.call !== undefined) last.push(one.call);
    }
    this.last = last;
    return last.length === found.length ? found : found.filter(({ call }) => call !== undefined);
  }

  #resolve({ rule, view }: ApplyingRule, request: LogRequest): MatchedRule | undefined {
    try {
      const { key, cost, plan, limits, escalate } = rule.resolve(view);
      return { rule, key, cost, plan, limits, escalate }; // a spread would cost more than the match
    } catch (error) {
      if (!isKeyResolutionError(error)) throw error;
      const known = this.unresolved.get(rule.name);
      if (known !== undefined) {
        known.requests += 1;
      } else {
        const { file, line } = request;
        // The message itself is for clients.
        const { message } = error.cause instanceof Error ? error.cause : error;
        const example = { file, line, reason: message };
        this.unresolved.set(rule.name, { requests: 1, example });
      }
      return undefined;
    }
  }
}
