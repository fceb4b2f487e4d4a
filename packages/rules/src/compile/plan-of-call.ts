import { nearest } from '@sluice/core/internal';
import type { Path, Report } from '../document/problems.js';
import type { RuleInput, RulesDocument } from '../document/schema.js';
import type { MatchInput } from '../document/schema-match.js';
import { matchesPlan } from '../matching/matcher.js';
import { usesPlans } from './plan-numbers.js';
import { compileText, hasTemplate, type ReadScope, type TemplatePlace } from './templates.js';

/** The name of a plan, or a template that finds it. */
export function compilePlan(
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
