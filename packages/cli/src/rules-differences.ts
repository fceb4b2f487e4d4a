import type { LimiterPolicies, Policy } from '@sluice/core';
import type { Rule, RuleSet, RulesDocument } from '@sluice/rules';
import { type Difference, FROM_ZERO } from './difference.js';
import { meterDifferences } from './meter-differences.js';
import { count, policyOf } from './words.js';

const FIELDS = [
  'match',
  'key',
  'ipv6Subnet',
  'plan',
  'cost',
  'escalate',
  'unlimited',
  'replaces',
  'mode',
  'compare',
  'failurePolicy',
  'timeout',
  'skipSuccessfulRequests',
  'skipFailedRequests',
  'reply',
] as const;
/** Fields of the document, with the effect of a change. */
const OF_DOCUMENT = [
  ['version', undefined],
  ['name', 'all counts start from zero'],
  ['hashTag', 'all counts start from zero'],
  ['defaultPlan', undefined],
  ['rollout', undefined],
  ['tests', undefined],
] as const;

/** The differences by rule and limit, not by line. @param before undefined if there is no version yet */
export function differences(before: RuleSet | undefined, after: RuleSet): Difference[] {
  const [old, now] = [before?.document, after.document];
  const found: Difference[] = [];
  for (const [field, note] of OF_DOCUMENT) {
    const [from, to] = [textOf(old?.[field]), textOf(now[field])];
    if (from === to || (old === undefined && field !== 'rollout')) continue;
    // Tests are too long to show.
    const shown = field === 'tests' ? [sizeOf(old?.tests), sizeOf(now.tests)] : [from, to];
    found.push(changed(undefined, field, shown[0], shown[1], note));
  }
  const [rules, others] = [after.rules, before?.rules ?? []];
  for (const { name } of others)
    if (after.rule(name) === undefined) found.push({ kind: 'removed', rule: name });
  for (const rule of rules) {
    const other = before?.rule(rule.name);
    if (other === undefined) found.push({ kind: 'added', rule: rule.name, after: limitsText(rule) });
    else found.push(...ofRule([before!, other], [after, rule]));
  }
  const order = (of: readonly Rule[], only: RuleSet | undefined) =>
    of.flatMap(({ name }) => (only?.rule(name) === undefined ? [] : [name])).join(', ');
  const [oldOrder, newOrder] = [order(others, after), order(rules, before)];
  if (oldOrder !== newOrder) found.push(changed(undefined, 'order', oldOrder, newOrder));
  return [...found, ...meterDifferences(before, after)];
}

type OfSet = readonly [RuleSet, Rule];

function ofRule([oldSet, old]: OfSet, [newSet, rule]: OfSet): Difference[] {
  const { name } = rule;
  const fields = FIELDS.flatMap((field) => {
    const [before, after] = [oldSet, newSet].map((set) => fieldOf(set, name, field)) as [Texts, Texts];
    return [...new Set([...before.keys(), ...after.keys()])].flatMap((what) =>
      before.get(what) === after.get(what)
        ? []
        : [
            changed(
              name,
              what,
              before.get(what),
              after.get(what),
              field === 'key' ? keyNote(old, rule) : undefined,
            ),
          ],
    );
  });
  const each = new Set([old, rule].flatMap(dependentLimits));
  const [before, after] = [limitsOf(old, each), limitsOf(rule, each)];
  const limits = [...new Set([...before.keys(), ...after.keys()])].flatMap((limit): Difference[] => {
    const [one, other] = [before.get(limit), after.get(limit)];
    if (one === undefined) return [{ kind: 'added', rule: name, what: limit, after: policyOf(other!) }];
    if (other === undefined) return [{ kind: 'removed', rule: name, what: limit, before: policyOf(one) }];
    if (JSON.stringify(one) === JSON.stringify(other)) return [];
    const note = one.algorithm === other.algorithm ? undefined : FROM_ZERO;
    // Policies with equal texts differ in numbers that the text omits.
    const [from, to] =
      policyOf(one) === policyOf(other) ? [one, other].map(textOf) : [one, other].map(policyOf);
    return [changed(name, limit, from, to, note)];
  });
  const [oldNotify, newNotify] = [old.notify, rule.notify].map(textOf);
  const notify = oldNotify === newNotify ? [] : [changed(name, 'notify', oldNotify, newNotify)];
  return [...fields, ...limits, ...notify];
}

/** Keys of a list begin with their kind. */
const keyNote = (old: Rule, rule: Rule): string | undefined =>
  Array.isArray(old.key) === Array.isArray(rule.key) ? undefined : FROM_ZERO;

const changed = (
  rule: string | undefined,
  what: string,
  before: string | undefined,
  after: string | undefined,
  note?: string,
): Difference => ({
  kind: 'changed',
  ...(rule !== undefined && { rule }),
  what,
  before: before ?? 'none',
  after: after ?? 'none',
  ...(note !== undefined && { note }),
});

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : JSON.stringify(value);
const sizeOf = (tests: RulesDocument['tests']): string | undefined => tests && count(tests.length, 'test');

type Texts = ReadonlyMap<string, string | undefined>;

/** A field of a rule as text. A field with numbers from plans has one text for each plan. */
function fieldOf({ document }: RuleSet, name: string, field: (typeof FIELDS)[number]): Texts {
  const text = textOf(document.rules?.find((one) => one.name === name)?.[field]);
  const planned = (field === 'cost' || field === 'escalate') && text?.includes('$plan.');
  if (text === undefined || !planned) return new Map([[field, text]]);
  return new Map(
    Object.entries(document.plans ?? {}).map(([plan, numbers]) => [
      `${field} of plan ${plan}`,
      text.replace(/"?\$plan\.([\w-]+)"?/g, (_, number: string) => JSON.stringify(numbers[number])),
    ]),
  );
}

/** The policies by limit. The policies of `each` are by limit and plan. The only limit of a rule is its `limit`. */
function limitsOf({ numbers }: Rule, each: ReadonlySet<string>): Map<string, Policy> {
  const found = new Map<string, Policy>();
  for (const [plan, { limits }] of numbers) {
    for (const [name, policy] of named(limits))
      found.set(plan === undefined || !each.has(name) ? name : `${name} of plan ${plan}`, policy);
  }
  return found;
}

/** The limits that depend on the plan. */
function dependentLimits({ numbers }: Rule): string[] {
  const texts = new Map<string, Set<string>>();
  for (const { limits } of numbers.values())
    for (const [name, policy] of named(limits))
      texts.set(name, (texts.get(name) ?? new Set()).add(JSON.stringify(policy)));
  return [...texts].flatMap(([name, { size }]) => (size > 1 ? [name] : []));
}

const named = (policies: LimiterPolicies | undefined): [string, Policy][] =>
  policies === undefined
    ? []
    : typeof policies.algorithm === 'string'
      ? [['limit', policies as Policy]]
      : Object.entries(policies as Readonly<Record<string, Policy>>);

function limitsText(rule: Rule): string {
  if (rule.unlimited) return 'unlimited';
  return [...limitsOf(rule, new Set(dependentLimits(rule)))]
    .map(([name, policy]) => `${name} ${policyOf(policy)}`)
    .join('; ');
}

/** `~ api, perMinute: 100 per 1 min (fixedWindow) → 200 per 1 min (fixedWindow)` */
export function differenceLine({ kind, rule, what, before, after, note }: Difference): string {
  const sign = { added: '+', removed: '-', changed: '~' }[kind];
  const place = [rule, what].filter((one) => one !== undefined).join(', ');
  // Other tests, as many as before.
  const change = before === after ? 'changed' : `${before} → ${after}`;
  const values = kind === 'changed' ? change : (after ?? before ?? 'removed');
  return `${sign} ${place}: ${values}${note === undefined ? '' : ` (${note})`}`;
}
