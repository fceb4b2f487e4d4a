import { nearest } from '@sluice/core/internal';
import type { Path, Report } from '../document/problems.js';
import type { RuleInput, RulesDocument } from '../document/schema.js';
import { matchesPlan } from '../matching/matcher.js';
import { usesPlans } from './plan-numbers.js';
import { Rule } from './rule.js';
import { compileRuleKey } from './templates.js';

/**
 * Compiles the rules of a document, and reports what the schema cannot say.
 * @param document can have problems, which are in `report`: parts with problems are omitted
 */
export function compileRules(document: RulesDocument, report: Report): Rule[] {
  const inputs = Array.isArray(document.rules) ? document.rules : [];
  if (document.rules === undefined && document.meter === undefined && !report.isMisspelt(['rules']))
    report.add([], "'rules' is missing: it must be a list of rules");
  const byName = new Map<string, RuleInput>();
  inputs.forEach((rule, i) => {
    const name = (rule as Partial<RuleInput> | null)?.name;
    if (typeof name !== 'string') return;
    if (byName.has(name)) {
      report.add(
        ['rules', i, 'name'],
        `rule '${name}' exists already: two rules would count under the same keys`,
      );
    } else byName.set(name, rule);
  });
  if (report.isClean(['defaultPlan'])) checkDefaultPlan(document, report);
  const by = document.rollout?.by;
  if (by !== undefined && by !== 'key' && report.isClean(['rollout'])) {
    compileRuleKey(by, undefined, { path: ['rollout'], field: 'by', report, isForCode: false });
  }
  const made = new Map<RuleInput, Rule>();
  const compile = (rule: RuleInput, base?: Partial<RuleInput>) => {
    const path = ['rules', inputs.indexOf(rule)];
    checkFields(rule, base, path, report);
    checkReferences(rule, byName, path, report);
    made.set(rule, new Rule({ ...base, ...withoutProblems(rule, path, report) }, document, path, report));
  };
  const given = inputs.filter(isObject);
  for (const rule of given) if (rule.compare === undefined) compile(rule);
  for (const rule of given) {
    if (rule.compare !== undefined) compile(rule, inherited(byName.get(rule.compare), inputs, report));
  }
  return given.map((rule) => made.get(rule)!);
}

/** The fields without problems. The fields of a match are checked one by one. */
function withoutProblems(rule: RuleInput, path: Path, report: Report): RuleInput {
  const clean = <T extends object>(values: T, at: Path, except: readonly string[] = []): T =>
    Object.fromEntries(
      Object.entries(values).filter(([field]) => except.includes(field) || report.isClean([...at, field])),
    ) as T;
  const { match, limits } = rule;
  const fields = clean(rule, path, [
    ...(isObject(match) ? ['match'] : []),
    ...(isObject(limits) ? ['limits'] : []),
  ]);
  return isObject(limits) ? { ...fields, limits: clean(limits, [...path, 'limits']) } : fields;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checkDefaultPlan({ plans = {}, defaultPlan }: RulesDocument, report: Report): void {
  if (defaultPlan === undefined || Object.hasOwn(Object(plans), defaultPlan) || !report.isClean(['plans']))
    return;
  report.add(['defaultPlan'], `plan '${defaultPlan}' is not in the document`, {
    hint: nearest(defaultPlan, Object.keys(Object(plans))),
  });
}

/** The fields that a shadow rule inherits from the rule that it compares with. Fields with problems are not inherited: they were reported there. */
function inherited(
  base: RuleInput | undefined,
  inputs: readonly RuleInput[],
  report: Report,
): Partial<RuleInput> {
  if (base === undefined) return {};
  const { match, key, ipv6Subnet, plan, cost, skipSuccessfulRequests, skipFailedRequests } = base;
  const at = inputs.indexOf(base);
  const shared = { match, key, ipv6Subnet, plan, cost, skipSuccessfulRequests, skipFailedRequests };
  return Object.fromEntries(
    Object.entries(shared).filter(
      ([field, value]) => value !== undefined && report.isClean(['rules', at, field]),
    ),
  );
}

/** Fields for rules that deny. */
const ENFORCED = ['reply', 'failurePolicy', 'timeout'] as const;
const SKIPS = ['skipSuccessfulRequests', 'skipFailedRequests'] as const;

/**
 * Fields that exclude or need each other.
 * @param base the fields that a shadow rule inherits from the rule that it compares with
 */
function checkFields(
  rule: RuleInput,
  base: Partial<RuleInput> | undefined,
  path: Path,
  report: Report,
): void {
  const { name, match, limit, limits, unlimited, mode, compare, replaces } = rule;
  if (unlimited) {
    const spare = (
      ['limit', 'limits', 'cost', 'plan', 'escalate', 'compare', ...ENFORCED, ...SKIPS] as const
    ).find((field) => rule[field] !== undefined && !(field === 'plan' && matchesPlan(match)));
    if (spare !== undefined)
      report.add([...path, spare], `'${spare}' has no effect in the unlimited rule '${name}'`);
    if (match === undefined) report.add(path, `the unlimited rule '${name}' needs a match`);
    if (mode === 'shadow') report.add([...path, 'mode'], `the unlimited rule '${name}' cannot be a shadow`);
  } else if (limit === undefined && limits === undefined) {
    const meant = ['limit', 'limits', 'unlimited'].some((field) => report.isMisspelt([...path, field]));
    if (!meant) report.add(path, `rule '${name}' needs a limit, limits, or unlimited: true`);
  } else if (limit !== undefined && limits !== undefined) {
    report.add([...path, 'limits'], `rule '${name}' has limit and limits: keep one`, { atKey: true });
  } else if (isObject(limits) && (Object.keys(limits).length === 0 || Object.keys(limits).length > 20)) {
    report.add([...path, 'limits'], `rule '${name}' needs 1 to 20 limits`);
  }
  const limited = isObject(limit) || isObject(limits);
  const planned = { ...base, ...rule };
  const usesPlan = usesPlans(planned) || matchesPlan(planned.match);
  if (rule.plan !== undefined && !unlimited && limited && !usesPlan) {
    report.add([...path, 'plan'], `plan has no effect in rule '${name}', which uses no $plan`, {
      atKey: true,
    });
  }
  const idle = (fields: readonly (keyof RuleInput)[], why: string) => {
    const field = fields.find((one) => rule[one] !== undefined);
    if (field !== undefined)
      report.add([...path, field], `'${field}' has no effect in ${why}`, { atKey: true });
  };
  if (mode === 'shadow') idle(['failurePolicy', 'timeout'], `the shadow rule '${name}'`);
  if (planned.match === undefined)
    idle(SKIPS, `rule '${name}', which has no match: only requests have a response`);
  if (compare !== undefined && mode !== 'shadow') {
    report.add([...path, 'compare'], `compare is for a rule with mode: shadow`, { atKey: true });
  }
  if (replaces !== undefined && match === undefined) {
    report.add([...path, 'replaces'], `replaces has no effect in rule '${name}', which has no match`, {
      atKey: true,
    });
  }
}

function checkReferences(
  rule: RuleInput,
  byName: ReadonlyMap<string, RuleInput>,
  path: Path,
  report: Report,
): void {
  const check = (name: string, at: Path) => {
    if (!byName.has(name)) {
      report.add(at, `no rule is named '${name}'`, { hint: nearest(name, byName.keys()) });
    } else if (name === rule.name) report.add(at, `rule '${name}' names itself`);
  };
  const replaces = Array.isArray(rule.replaces) ? rule.replaces : [];
  replaces.forEach((name, i) => {
    if (typeof name === 'string') check(name, [...path, 'replaces', i]);
  });
  const circle = replaces.length > 0 && replacesItself(rule.name, byName);
  if (circle)
    report.add([...path, 'replaces'], `${circle.join(' → ')}: these rules replace each other in a circle`);
  if (typeof rule.compare !== 'string') return;
  check(rule.compare, [...path, 'compare']);
  if (byName.get(rule.compare)?.mode === 'shadow') {
    report.add([...path, 'compare'], `'${rule.compare}' is a shadow itself: compare with an enforced rule`);
  }
}

/** A circle of rules that replace each other, from a rule back to itself. */
function replacesItself(start: string, byName: ReadonlyMap<string, RuleInput>): string[] | undefined {
  const seen = new Set<string>();
  const ways = [[start]];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const next = byName.get(way.at(-1)!)?.replaces;
    for (const name of Array.isArray(next) ? next : []) {
      if (name === start && way.length > 1) return [...way, name];
      if (typeof name !== 'string' || seen.has(name)) continue;
      seen.add(name);
      ways.push([...way, name]);
    }
  }
  return undefined;
}
