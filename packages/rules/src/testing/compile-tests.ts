import { nearest } from '@sluice/core/internal';
import type { Path, Report } from '../document/problems.js';
import type { RuleInput, RulesDocument } from '../document/schema.js';
import type { ExpectInput, GivenInput, TestInput } from '../document/schema-tests.js';

/** A test of a document. */
export interface RuleTest {
  readonly name: string;
  readonly given: readonly GivenInput[];
  readonly expect: ExpectInput;
  /** Line of the test in its file, from 1; undefined in a document that is an object. */
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** Reads `tests:`, and reports invalid tests. */
export function compileTests(document: RulesDocument, report: Report): RuleTest[] {
  if (!Array.isArray(document.tests)) return [];
  // In an invalid document, a rule can be any value.
  const rules = (Array.isArray(document.rules) ? (document.rules as (RuleInput | null)[]) : []).filter(
    (rule) => typeof rule?.name === 'string',
  ) as RuleInput[];
  return document.tests.flatMap((test, i) => {
    const path = ['tests', i];
    if (!report.isClean(path)) return [];
    const given = [test.given].flat();
    given.forEach((one, j) => {
      checkGiven(one, rules, [...path, 'given', ...(Array.isArray(test.given) ? [j] : [])], report);
    });
    checkExpect(test, rules, path, report);
    const at = report.locate(path, false);
    const name = test.name ?? `test ${i + 1}`;
    return [{ name, given, expect: test.expect, line: at?.line, column: at?.column }];
  });
}

const OF_REQUESTS = [
  'method',
  'host',
  'ip',
  'user',
  'headers',
  'params',
  'query',
  'cookies',
  'body',
] as const;

function checkGiven(given: GivenInput, rules: readonly RuleInput[], path: Path, report: Report): void {
  const { rule, key, plan, at } = given;
  if (rule === undefined) {
    if (given.path === undefined) report.add(path, "given needs a path, or a rule and a key: 'path: /v1/a'");
    if (key !== undefined || plan !== undefined) {
      report.add(path, 'key and plan are for a call of a rule: name the rule, or put the plan into user');
    }
  } else {
    const spare = (['path', ...OF_REQUESTS] as const).find((field) => given[field] !== undefined);
    if (spare !== undefined)
      report.add([...path, spare], `${spare} has no effect in a call of a rule`, { atKey: true });
    if (key === undefined) report.add(path, `a call of rule '${rule}' needs a key`);
    const names = rules.filter(({ unlimited }) => !unlimited).map(({ name }) => name);
    if (!names.includes(rule)) {
      report.add([...path, 'rule'], `no rule with limits is named '${rule}'`, { hint: nearest(rule, names) });
    }
  }
  if (at !== undefined && !isMoment(at)) {
    report.add([...path, 'at'], 'at must be a moment such as 2026-01-31T23:59:00Z, with its time zone');
  }
}

const isMoment = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
  !Number.isNaN(Date.parse(text));

function checkExpect({ expect }: TestInput, rules: readonly RuleInput[], path: Path, report: Report): void {
  const { by, shadow = {} } = expect;
  if (Object.keys(expect).length === 0) {
    report.add([...path, 'expect'], 'expect needs allowed, denied, by or shadow');
  }
  const shadows = rules.filter(({ mode }) => mode === 'shadow').map(({ name }) => name);
  for (const name of Object.keys(shadow)) {
    if (shadows.includes(name)) continue;
    report.add([...path, 'expect', 'shadow', name], `no shadow rule is named '${name}'`, {
      hint: nearest(name, shadows),
      atKey: true,
    });
  }
  if (by === undefined) return;
  const names = rules.flatMap(({ name, limits }) => [
    name,
    ...Object.keys(Object(limits)).map((limit) => `${name}.${limit}`),
  ]);
  if (!names.includes(by)) {
    report.add([...path, 'expect', 'by'], `no limit is named '${by}'`, { hint: nearest(by, names) });
  }
}
