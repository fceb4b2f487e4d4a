import { SluiceError } from '@sluice/core';
import type { RulesDocument } from '../document/schema.js';
import { parseRules } from '../parse-rules.js';
import { RuleSet } from '../rule-set.js';
import { type FailedTest, runTests, type TestReport } from './run-tests.js';

/** Tests of a document failed. */
export class RulesTestError extends SluiceError {
  readonly code = 'SLUICE_RULES_TEST';

  constructor(
    readonly failed: readonly FailedTest[],
    file: string | undefined,
  ) {
    const lines = failed.map(({ name, message, line, column }) => {
      const place = [file, line, column].filter((part) => part !== undefined).join(':');
      return `${place === '' ? '' : `${place}: `}${name}: ${message}`;
    });
    super(lines.length === 1 ? lines[0]! : `${lines.length} tests failed:\n${lines.join('\n')}`);
  }
}

/**
 * Checks a document and runs its `tests:`, in memory, with their own clock. For your test runner:
 * `test('limits', () => testRules('limits.yaml'))`.
 * @param source the path or URL of a file, the result of `parseRules`, or a document as an object
 * @throws RulesError for a document with problems, RulesTestError with each failed test, RangeError for a document without tests
 */
export async function testRules(source: string | URL | RuleSet | RulesDocument): Promise<TestReport> {
  const set = source instanceof RuleSet ? source : await read(source);
  if (set.tests.length === 0) {
    throw new RangeError(`testRules: ${set.file ?? 'the document'} has no tests: add them under 'tests:'`);
  }
  const report = await runTests(set);
  if (report.failed.length > 0) throw new RulesTestError(report.failed, set.file);
  return report;
}

async function read(source: string | URL | RulesDocument): Promise<RuleSet> {
  if (typeof source !== 'string' && !(source instanceof URL)) return parseRules(source);
  const { readFile } = await import('node:fs/promises');
  return parseRules(await readFile(source, 'utf8'), { file: String(source) });
}
