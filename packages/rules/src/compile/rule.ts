import type { EscalateOptions, LimiterPolicies } from '@sluice/core';
import { keyText, nearest, type RequestView, type RuleReply, readsBody } from '@sluice/core/http';
import type { Path, Report } from '../document/problems.js';
import type { RuleInput, RulesDocument } from '../document/schema.js';
import type { MatchInput } from '../document/schema-match.js';
import { compileMatch, type Matcher, matchesPlan } from '../matching/matcher.js';
import { compileEscalate } from './escalate.js';
import { compileLimits } from './limits.js';
import { compileNotify, type NotifyOptions } from './notify.js';
import { PlanNumbers, usesPlans } from './plan-numbers.js';
import { compileReply } from './reply.js';
import {
  compileCost,
  compileRuleKey,
  compileText,
  hasTemplate,
  type ReadScope,
  type RuleCost,
  scopeOf,
  type TemplatePlace,
} from './templates.js';

/** The numbers of a rule for one plan. */
export interface RuleNumbers {
  /** Undefined if the rule takes no numbers from plans. */
  readonly plan: string | undefined;
  readonly limits: LimiterPolicies;
  readonly escalate: EscalateOptions | undefined;
}

/** What a request counts for under one rule. */
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
  /** Of a shadow rule: the enforced rule that it compares with. */
  readonly compare: string | undefined;
  readonly reply: RuleReply | undefined;
  /** Of its limits. */
  readonly notify: NotifyOptions | undefined;
  /** Undefined: only code uses the rule. */
  readonly matcher: Matcher | undefined;
  /** `IP`, `USER`, `METHOD`, a template, or a list of them. */
  readonly key: string | readonly string[];
  /** Its numbers for each plan; for `undefined` if the rule takes none from plans. */
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

  /** @internal @param input with what it has from the rule that it compares with */
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
    this.reply = compileReply(reply, path, report);
    this.notify = compileNotify(input, path, report);
    this.key = key;
    const plans = PlanNumbers.of(input, report.isClean(['plans']) ? document.plans : undefined, report);
    this.numbers = new Map(
      plans.map((plan) => {
        const limits = compileLimits(input, plan, path);
        const escalate = compileEscalate(input, plan, path);
        return [plan.name, { plan: plan.name, limits: limits!, escalate }]; // the report has what is missing
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

  /** The key as one text: `USER, IP` for a list. */
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

/** The name of a plan, or a template that finds it. */
function compilePlan(
  input: RuleInput,
  { plans = {}, defaultPlan }: RulesDocument,
  place: TemplatePlace,
): ReadScope<string | undefined> {
  const { path, report } = place;
  const { name, plan, match } = input;
  const matches = matchesPlan(match);
  if (!matches && !usesPlans(input)) return () => undefined;
  if (!report.isClean(['plans'])) return () => undefined;
  const names = Object.keys(plans);
  const uses = matches ? 'matches by plan' : 'uses $plan';
  if (names.length === 0) report.add(path, `rule '${name}' ${uses}, and the document has no plans`);
  else if (matches) checkMatchedPlans(match!, names, [...path, 'match'], report);
  if (plan === undefined) {
    if (matches || defaultPlan === undefined) {
      const or = matches ? '' : ', or a defaultPlan';
      report.add(path, `rule '${name}' ${uses}: add plan: '#{user.plan}', for example${or}`);
    }
    return () => undefined;
  }
  const at = [...path, 'plan'];
  if (matches && !hasTemplate(plan)) {
    report.add(
      at,
      `rule '${name}' matches by plan: plan must find the one of a request, such as '#{user.plan}'`,
    );
  }
  if (!hasTemplate(plan)) {
    if (!Object.hasOwn(plans, plan)) {
      report.add(at, `plan '${plan}' is not in the document`, { hint: nearest(plan, names) });
    }
    return () => plan;
  }
  if (defaultPlan === undefined) {
    report.add(
      at,
      'a plan from a request needs a defaultPlan in the document, for requests without one or with an unknown one',
    );
  }
  return compileText(plan, 'plan', place);
}

/** Reports plans that the document does not have. */
function checkMatchedPlans(match: MatchInput, names: readonly string[], path: Path, report: Report): void {
  const check = (plan: unknown, at: Path) => {
    for (const [i, one] of [plan ?? []].flat().entries()) {
      if (typeof one !== 'string' || names.includes(one)) continue;
      report.add(Array.isArray(plan) ? [...at, i] : at, `plan '${one}' is not in the document`, {
        hint: nearest(one, names),
      });
    }
  };
  const { not } = match;
  check(match.plan, [...path, 'plan']);
  for (const [i, one] of [not ?? []].flat().entries()) {
    check(one?.plan, [...path, 'not', ...(Array.isArray(not) ? [i] : []), 'plan']);
  }
}
