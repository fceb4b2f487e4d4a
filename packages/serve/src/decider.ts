import { clientIp, type Decision } from '@sluice/core';
import {
  type MatchedRules,
  type NamedRule,
  RequestLimit,
  type RequestRules,
  type RequestView,
  type Verdict,
} from '@sluice/http';
import type { Rules } from '@sluice/rules';
import type { Answer } from './answer.js';
import { BadCall } from './errors.js';

/** What a client wants to have decided: a request, which rules match, or a rule by its name. */
export interface Call extends RequestView {
  readonly named?: { readonly rule: string; readonly key: string; readonly plan?: string | undefined };
  /** The permits that each rule takes; undefined: as the rules say. */
  readonly cost?: number | undefined;
  /** The rules that were found. */
  matched?: MatchedRules | undefined;
  /** The rules of all calls of a group; undefined if no rule matches. */
  readonly joined?: { readonly calls: MatchedRules | undefined } | undefined;
}

/** Calls that are decided together, all or nothing. */
export interface Group {
  readonly call: Call;
  /** The names of its rules in the decision, by the index of each call; undefined: all of them. */
  readonly members: ReadonlyMap<number, readonly string[] | undefined>;
}

/** The parts that most calls do not have. */
const NONE = { ip: undefined, user: undefined, body: undefined, params: {}, query: {}, headers: {} };
export const EMPTY_REQUEST: RequestView = { ...NONE, method: 'GET', path: '/' };

/** Decides the calls of all protocols by the rules. */
export class Decider {
  readonly #limit: RequestLimit<[]>;
  readonly #background = new Set<Promise<void>>();

  constructor(readonly rules: Rules) {
    const match: RequestRules['match'] = (call: Call) => {
      if (call.joined !== undefined) {
        call.matched = call.joined.calls;
        return call.matched;
      }
      const found = call.named === undefined ? rules.match(call) : this.#ofName(call.named, call.cost);
      call.matched = found && call.cost !== undefined ? withCost(found, call.cost) : found;
      return call.matched;
    };
    const { name, store, limiters, bodyRules } = rules;
    this.#limit = new RequestLimit('serve', {
      rules: { name, store, limiters, bodyRules, rule: (one) => rules.rule(one), match },
      // No protocol says how a request ended, so `skipSuccessfulRequests` and `skipFailedRequests` refund nothing.
      requestWasSuccessful: () => true,
      validate: false,
    });
  }

  /** @throws KeyResolutionError without a key, RangeError for an unknown rule */
  decide(call: Call, answer: Answer): Verdict | Promise<Verdict> {
    return this.#limit.handle(call, answer);
  }

  /** All calls as one, without those that fail; or each by itself, if they cannot be decided together. */
  groupsOf(calls: readonly Call[]): readonly Group[] {
    const alone = (call: Call, i: number): Group => ({ call, members: new Map([[i, undefined]]) });
    const [first] = calls;
    if (first === undefined || calls.length === 1) return calls.map(alone);
    const joined = this.rules.matchAll(calls.map((call) => ({ view: call, cost: call.cost })));
    if (joined === undefined) return calls.map(alone);
    const members = new Map([...joined.members.entries()].filter(([, names]) => names !== undefined));
    const others = calls.map(alone).filter((_, i) => !members.has(i));
    return members.size === 0 ? others : [{ call: { ...first, joined }, members }, ...others];
  }

  /** @returns `unlimited` for a rule without a limit, undefined if there is none of this name */
  kindOf(rule: string): 'limited' | 'unlimited' | undefined {
    const found = this.rules.namedRule(rule);
    return found && (found.unlimited ? 'unlimited' : 'limited');
  }

  /** Keeps work that no answer waits for. @param work never rejects */
  background(work: Promise<void>): void {
    this.#background.add(work);
    void work.then(() => this.#background.delete(work));
  }

  /** Waits for the work that no answer waited for. */
  async settled(): Promise<void> {
    await Promise.all(this.#background);
  }

  #ofName({ rule, key, plan }: NonNullable<Call['named']>, cost: number | undefined): MatchedRules {
    const own = this.rules.rule(rule);
    const { mode, timeout, shadows } = own;
    const [call, ...compared] = [own, ...shadows].map((one) => ({
      ...one.ofPlan(plan),
      keys: keyFor(one, key),
    }));
    if (cost === undefined && call!.cost === undefined)
      throw new BadCall(`The cost of rule ${rule} depends on the request: send cost, or use /v1/request.`);
    // A rule on trial must not fail the call, and a guessed cost would falsify its trial.
    const counted = compared.filter((one) => cost !== undefined || one.cost !== undefined);
    const reply = this.rules.namedRule(rule)?.reply;
    const replyTo = () => reply;
    if (mode === 'shadow') return { enforced: undefined, shadows: [call!, ...counted], replyTo };
    return { enforced: call, timeout, shadows: counted, replyTo };
  }
}

/** An address counts as the address of a request does. Other text stays, because a rule without a key has the key IP. */
function keyFor({ key, ipv6Subnet }: NamedRule, text: string): string {
  if (key !== 'IP') return text;
  try {
    return clientIp(text, { ipv6Subnet });
  } catch {
    return text;
  }
}

const withCost = (found: MatchedRules, cost: number): MatchedRules => ({
  enforced: found.enforced && { ...found.enforced, cost },
  timeout: found.timeout,
  shadows: found.shadows.map((shadow) => ({ ...shadow, cost })),
  replyTo: (decision) => found.replyTo(decision),
});

/** The binding policy, as the header `RateLimit-Policy` names it. */
export const policyOf = ({ name, policy }: Pick<Decision, 'name' | 'policy'>): string =>
  policy === name ? name : `${name}.${policy}`;
