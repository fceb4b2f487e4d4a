import { checkInteger, checkOptions } from '@sluice/core/internal';
import { compileRules } from './compile/compile-document.js';
import { compileMeters } from './compile/meters.js';
import { reportIssues } from './document/issues.js';
import { copyData } from './document/plain-data.js';
import { Report } from './document/problems.js';
import { readYaml } from './document/read-yaml.js';
import { documentSchema, type RulesDocument } from './document/schema.js';
import { RuleSet } from './rule-set.js';
import { compileTests } from './testing/compile-tests.js';

export interface ParseOptions {
  /** The name of the file, for messages. */
  readonly file?: string | undefined;
  /** The most characters of a text; default 1,000,000. */
  readonly maxLength?: number | undefined;
}

/**
 * Checks a document and compiles it.
 * @param source YAML or JSON as text, or the document as an object
 * @throws RulesError with all problems, each with its line and column; those of an object have a path
 */
export function parseRules(source: string | RulesDocument, options: ParseOptions = {}): RuleSet {
  checkOptions('parseRules', options, ['file', 'maxLength']);
  const { file, maxLength = 1_000_000 } = options;
  checkInteger('parseRules: maxLength', maxLength, 1, 100_000_000);
  const { value, report } = read(source, maxLength);
  const data = report.problems.length === 0 ? copyData(value, report) : undefined;
  report.throwIfAny(file);
  const checked = documentSchema.safeParse(data);
  if (!checked.success) reportIssues(checked.error.issues, data, report);
  const document = data as RulesDocument;
  const isObject = typeof data === 'object' && data !== null;
  const rules = isObject ? compileRules(document, report) : [];
  const meters = isObject ? compileMeters(document, report) : new Map();
  const tests = isObject ? compileTests(document, report) : [];
  report.throwIfAny(file);
  return new RuleSet(document, rules, file, tests, meters);
}

function read(source: unknown, maxLength: number): { value: unknown; report: Report } {
  if (typeof source !== 'string') return { value: source, report: new Report() };
  if (source.length <= maxLength) return readYaml(source);
  const report = new Report();
  report.addAt(
    { line: 1, column: 1 },
    `the document has ${source.length} characters; at most ${maxLength} are read`,
  );
  return { value: undefined, report };
}
