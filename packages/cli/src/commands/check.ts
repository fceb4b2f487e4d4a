import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { FailedTest, Problem, RuleSet } from '@sluice/rules';
import { CliError } from '../cli-error.js';
import type { CommandDefinition, Context } from '../command.js';
import { count } from '../words.js';

export type RulesPackage = typeof import('@sluice/rules');

/** The results for one file, as `--json` prints them. */
export interface FileReport {
  readonly file: string;
  readonly ok: boolean;
  readonly version?: string | number;
  readonly rules?: number;
  readonly meters?: number;
  readonly problems: readonly Problem[];
  readonly tests: { readonly passed: number; readonly failed: readonly FailedTest[] };
}

const NO_TESTS = { passed: 0, failed: [] };

export const check: CommandDefinition = {
  name: 'check',
  arguments: [['<files...>', 'files of rules, YAML or JSON; - for the input']],
  options: [],
  summary: 'check files of rules, and run their tests',
  description:
    'Checks files of rules and runs the tests in them, in memory. Prints each problem as file:line:column: message. Needs no Redis. ' +
    'Exits with 1 if a file has a problem or a test failed, with 2 if a file cannot be read.',
  example: ['check limits.yaml', "limits.yaml:12:16: no rule is named 'ap'; did you mean 'api'?"],
  writes: false,
  offline: true,
  async run(context, files) {
    const { output } = context;
    const rules = await import('@sluice/rules'); // loaded here, so that other commands do not wait for it
    let allOk = true;
    for (const file of files) {
      const report = await reportOf(rules, file, await readRules(file, context));
      output.json(report);
      for (const line of linesOf(rules, report)) output.line(line);
      allOk &&= report.ok;
    }
    return allOk ? 0 : 1;
  },
};

export async function readRules(file: string, { stdin }: Context): Promise<string> {
  if (file === '-') return text(stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

export async function reportOf(
  { isRulesError, parseRules, runTests }: RulesPackage,
  given: string,
  source: string,
): Promise<FileReport> {
  const file = given === '-' ? 'stdin' : given;
  let set: RuleSet;
  try {
    set = parseRules(source, { file });
  } catch (error) {
    if (!isRulesError(error)) throw error;
    return { file, ok: false, problems: error.problems, tests: NO_TESTS };
  }
  const tests = await runTests(set);
  const { version, rules, meters } = set;
  const named = version === undefined ? {} : { version };
  const metered = meters.size === 0 ? {} : { meters: meters.size };
  const ok = tests.failed.length === 0;
  return { file, ok, ...named, rules: rules.length, ...metered, problems: [], tests };
}

export function linesOf({ problemLine }: RulesPackage, report: FileReport): string[] {
  const { file, ok, rules, meters, version, problems, tests } = report;
  const failed = tests.failed.map(({ name, message, line, column }) => {
    return { message: `${name}: ${message}`, line, column, path: '', hint: undefined };
  });
  if (!ok) return [...problems, ...failed].map((problem) => problemLine(problem, file));
  const named = version === undefined ? '' : `version ${version}, `;
  const metered = meters === undefined ? [] : [count(meters, 'meter')];
  const counted = [...(rules === 0 ? [] : [count(rules!, 'rule')]), ...metered].join(', ');
  return [`${file}: ok, ${named}${counted}, ${count(tests.passed, 'test')} passed`];
}
