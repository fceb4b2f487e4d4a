import { nearest, type Path, type Report } from '../document/problems.js';
import type { RuleInput, RulesDocument } from '../document/schema.js';
import { Rule } from './rule.js';

/**
 * Compiles the rules of a document, and reports what the schema cannot say.
 * @param document may have problems that `report` knows: parts with problems are left out
 */
export function compileRules(document: RulesDocument, report: Report): Rule[] {
  const inputs = Array.isArray(document.rules) ? document.rules : [];
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
  if (!report.isClean(['plans'])) return [];
  return inputs.flatMap((rule, i) => {
    const path = ['rules', i];
    if (!report.isClean(path)) return [];
    checkFields(rule, path, report);
    checkReferences(rule, byName, path, report);
    const base = rule.compare === undefined ? undefined : byName.get(rule.compare);
    return [new Rule(base === undefined ? rule : inherited(rule, base), document, path, report)];
  });
}

function checkDefaultPlan({ plans = {}, defaultPlan }: RulesDocument, report: Report): void {
  if (defaultPlan === undefined || Object.hasOwn(Object(plans), defaultPlan)) return;
  report.add(['defaultPlan'], `plan '${defaultPlan}' is not in the document`, {
    hint: nearest(defaultPlan, Object.keys(Object(plans))),
  });
}

/** What a shadow rule has of the rule that it compares with. */
function inherited(rule: RuleInput, base: RuleInput): RuleInput {
  const { match, key, ipv6Subnet, plan, cost } = base;
  return { ...dropUndefined({ match, key, ipv6Subnet, plan, cost }), ...rule };
}

const dropUndefined = <T extends object>(values: T): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;

/** Fields that exclude or need each other. */
function checkFields(rule: RuleInput, path: Path, report: Report): void {
  const { name, match, limit, limits, unlimited, mode, compare, replaces } = rule;
  if (unlimited) {
    const spare = (['limit', 'limits', 'cost', 'plan', 'reply', 'compare'] as const).find(
      (field) => rule[field] !== undefined,
    );
    if (spare !== undefined)
      report.add([...path, spare], `'${spare}' has no effect in the unlimited rule '${name}'`);
    if (match === undefined) report.add(path, `the unlimited rule '${name}' needs a match`);
    if (mode === 'shadow') report.add([...path, 'mode'], `the unlimited rule '${name}' cannot be a shadow`);
  } else if (limit === undefined && limits === undefined) {
    report.add(path, `rule '${name}' needs a limit, limits, or unlimited: true`);
  } else if (limit !== undefined && limits !== undefined) {
    report.add([...path, 'limits'], `rule '${name}' has limit and limits: keep one`, { atKey: true });
  } else if (limits !== undefined && (Object.keys(limits).length === 0 || Object.keys(limits).length > 20)) {
    report.add([...path, 'limits'], `rule '${name}' needs 1 to 20 limits`);
  }
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
  rule.replaces?.forEach((name, i) => {
    check(name, [...path, 'replaces', i]);
  });
  if (rule.replaces !== undefined && replacesItself(rule.name, byName)) {
    report.add(
      [...path, 'replaces'],
      `the rules ${replacesItself(rule.name, byName)!.join(' → ')} replace each other in a circle`,
    );
  }
  if (rule.compare === undefined) return;
  check(rule.compare, [...path, 'compare']);
  if (byName.get(rule.compare)?.mode === 'shadow') {
    report.add([...path, 'compare'], `'${rule.compare}' is a shadow itself: compare with an enforced rule`);
  }
}

/** The way from a rule over `replaces` back to it. */
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
