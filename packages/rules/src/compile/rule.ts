import type { Duration, EscalateOptions, LimiterPolicies } from '@sluice/core';
import { keyText } from '@sluice/core/internal';
import { type RequestView, type RuleReply, readsBody } from '@sluice/http';
import type { Path, Report } from '../document/problems.js';
import type { RuleInput, RulesDocument } from '../document/schema.js';
import { compileMatch, type Matcher } from '../matching/matcher.js';
import { compileEscalate } from './escalate.js';
import { compileLimits } from './limits.js';
import { compileNotify, type NotifyOptions } from './notify.js';
import { PlanNumbers } from './plan-numbers.js';
import { compilePlan } from './plan-of-call.js';
import { compileReply } from './reply.js';
import {
  compileCost,
  compileRuleKey,
  hasTemplate,
  type ReadScope,
  type RuleCost,
  scopeOf,
} from './templates.js';

/** The numbers of a rule for one plan. */
export interface RuleNumbers {
  /** Undefined if the rule takes no numbers from plans. */
  readonly plan: string | undefined;
  readonly limits: LimiterPolicies;
  readonly escalate: EscalateOptions | undefined;
}

/** The key, cost and plan of a request under one rule. */
export interface RuleCall extends RuleNumbers {
  readonly key: string;
  readonly cost: number;
}

/** A compiled rule. */
export class Rule {
  readonly name: string;
  readonly mode: 'enforce' | 'shadow';
  readonly unlimited: boolean;
  readonly replaces: readonly string[];
  /** The enforced rule that a shadow rule compares with. */
  readonly compare: string | undefined;
  readonly reply: RuleReply | undefined;
  readonly failurePolicy: RuleInput['failurePolicy'];
  /** The longest wait for permits. */
  readonly timeout: Duration | undefined;
  /** Does it refund permits after some responses? */
  readonly refunds: boolean;
  readonly #skipsSuccessful: boolean;
  readonly #skipsFailed: boolean;
  /** The thresholds of its limits. */
  readonly notify: NotifyOptions | undefined;
  /** Undefined: only code uses the rule. */
  readonly matcher: Matcher | undefined;
  /** `IP`, `USER`, `METHOD`, a template, or a list of them. */
  readonly key: string | readonly string[];
  /** The numbers for each plan. The key is `undefined` if the rule takes no numbers from plans. */
  readonly numbers: ReadonlyMap<string | undefined, RuleNumbers>;
  readonly ipv6Subnet: number | undefined;
  /** Does a request need its body for this rule? */
  readonly readsBody: boolean;
  /** Permits of a call. */
  readonly cost: RuleCost;
  /** The plan of a call; undefined if it has none. */
  readonly planOf: ReadScope<string | undefined>;
  /** @throws KeyResolutionError if the request lacks the key */
  readonly keyOf: (request: RequestView) => string;
  /** The plan of a request whose plan is missing or unknown. */
  readonly #fallbackPlan: string | undefined;

  /** @internal @param input with the fields inherited from the rule that it compares with */
  constructor(input: RuleInput, document: RulesDocument, path: Path, report: Report) {
    const {
      name,
      mode = 'enforce',
      unlimited = false,
      replaces = [],
      compare,
      reply,
      match,
      key = 'IP',
    } = input;
    this.name = name;
    this.mode = mode;
    this.unlimited = unlimited;
    this.replaces = replaces;
    this.compare = compare;
    this.failurePolicy = input.failurePolicy;
    this.timeout = input.timeout as Duration | undefined;
    this.#skipsSuccessful = input.skipSuccessfulRequests === true;
    this.#skipsFailed = input.skipFailedRequests === true;
    this.refunds = this.#skipsSuccessful || this.#skipsFailed;
    this.reply = compileReply(reply, path, report);
    this.notify = compileNotify(input, path, report);
    this.key = key;
    const plans = PlanNumbers.of(input, report.isClean(['plans']) ? document.plans : undefined, report);
    this.numbers = new Map(
      plans.map((plan) => {
        const limits = compileLimits(input, plan, path);
        const escalate = compileEscalate(input, plan, path);
        return [plan.name, { plan: plan.name, limits: limits!, escalate }]; // the missing field is reported
      }),
    );
    const place = { path, report, isForCode: match === undefined };
    this.ipv6Subnet = input.ipv6Subnet;
    this.readsBody =
      match !== undefined && (readsBody(input.plan) || (!unlimited && [key, input.cost].some(readsBody)));
    this.keyOf = compileRuleKey(key, input.ipv6Subnet, place);
    this.planOf = compilePlan(input, document, place);
    this.cost = compileCost(input.cost, plans, place, (scope) => this.numbersOf(this.planOf(scope)).plan);
    this.#fallbackPlan =
      input.plan !== undefined && !hasTemplate(input.plan) ? input.plan : document.defaultPlan;
    const planNames = Object.keys(Object(document.plans));
    const planOfRequest = (request: RequestView) => {
      const plan = this.planOf(scopeOf(request));
      return plan !== undefined && planNames.includes(plan) ? plan : this.#fallbackPlan;
    };
    this.matcher = match && compileMatch(match, planOfRequest, [...path, 'match'], report);
  }

  /** Does the rule refund a request with this outcome? */
  skips(successful: boolean): boolean {
    return successful ? this.#skipsSuccessful : this.#skipsFailed;
  }

  /** The key as one string: `USER, IP` for a list. */
  get keyKind(): string {
    return keyText(this.key);
  }

  /** The numbers of a plan, or of the default plan if the plan is unknown. */
  numbersOf(plan?: string): RuleNumbers {
    const { numbers } = this;
    return numbers.get(undefined) ?? numbers.get(plan) ?? numbers.get(this.#fallbackPlan)!;
  }

  /** @throws KeyResolutionError if the request lacks the key, or has no valid cost */
  resolve(request: RequestView): RuleCall {
    const scope = scopeOf(request);
    const key = this.keyOf(request);
    const cost = this.cost.of(scope);
    const { plan, limits, escalate } = this.numbersOf(this.planOf(scope));
    return { key, cost, plan, limits, escalate };
  }
}
