import type { LimiterPolicies } from '@sluice/core';
import type { RequestView } from '@sluice/core/http';
import type { Path, Report } from '../document/problems.js';
import { nearest } from '../document/problems.js';
import type { ReplyInput, RuleInput, RulesDocument } from '../document/schema.js';
import { compileMatch, type Matcher } from '../matching/matcher.js';
import { compileLimits, type PoliciesByPlan, usesPlans } from './limits.js';
import { compileCost, compileKey, compileText, hasTemplate, type ReadRequest } from './templates.js';

/** What a request counts for under one rule. */
export interface RuleCall {
  readonly key: string;
  readonly cost: number;
  /** Undefined if the rule takes no numbers from plans. */
  readonly plan: string | undefined;
  readonly limits: LimiterPolicies;
}

/** A compiled rule. */
export class Rule {
  readonly name: string;
  readonly mode: 'enforce' | 'shadow';
  readonly unlimited: boolean;
  readonly replaces: readonly string[];
  /** Of a shadow rule: the enforced rule that it compares with. */
  readonly compare: string | undefined;
  readonly reply: ReplyInput | undefined;
  /** Undefined: only code uses the rule. */
  readonly matcher: Matcher | undefined;
  /** `IP`, `USER`, `METHOD` or the template. */
  readonly keyKind: string;
  /** The policies by plan; under `undefined` if the rule takes no numbers from plans. */
  readonly policies: PoliciesByPlan;
  readonly #keyOf: ReadRequest<string>;
  readonly #costOf: ReadRequest<number>;
  readonly #planOf: ReadRequest<string | undefined>;
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
    this.reply = reply;
    this.keyKind = key;
    this.matcher = match && compileMatch(match, [...path, 'match'], report);
    this.policies = compileLimits(
      input,
      report.isClean(['plans']) ? document.plans : undefined,
      path,
      report,
    );
    this.#keyOf = compileKey(key, input.ipv6Subnet, path, report);
    this.#costOf = compileCost(input.cost, path, report);
    this.#planOf = compilePlan(input, document, path, report);
    this.#fallbackPlan =
      input.plan !== undefined && !hasTemplate(input.plan) ? input.plan : document.defaultPlan;
  }

  /** The policies of a plan; of an unknown one those of the default plan. */
  policiesOf(plan?: string): { readonly plan: string | undefined; readonly limits: LimiterPolicies } {
    const { policies } = this;
    const found = policies.has(undefined)
      ? undefined
      : plan !== undefined && policies.has(plan)
        ? plan
        : this.#fallbackPlan;
    return { plan: found, limits: policies.get(found)! };
  }

  /** @throws KeyResolutionError if the request lacks the key, or has no valid cost */
  resolve(request: RequestView): RuleCall {
    const key = this.#keyOf(request);
    const cost = this.#costOf(request);
    return {
      key,
      cost,
      ...this.policiesOf(this.policies.has(undefined) ? undefined : this.#planOf(request)),
    };
  }
}

/** The name of a plan, or a template that finds it. */
function compilePlan(
  input: RuleInput,
  { plans = {}, defaultPlan }: RulesDocument,
  path: Path,
  report: Report,
): ReadRequest<string | undefined> {
  const { plan } = input;
  if (!usesPlans(input)) return () => undefined;
  if (!report.isClean(['plans'])) return () => undefined;
  const names = Object.keys(plans);
  if (names.length === 0) report.add(path, `rule '${input.name}' uses $plan, and the document has no plans`);
  if (plan === undefined) {
    if (defaultPlan === undefined) {
      report.add(
        path,
        `rule '${input.name}' uses $plan: add plan: '#{user.plan}', for example, or a defaultPlan`,
      );
    }
    return () => undefined;
  }
  const at = [...path, 'plan'];
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
  return compileText(plan, at, report);
}
