import type { RuleSet, RulesVersion, StoredRules } from '@sluice/rules';
import { CliError, type ExitCode } from './cli-error.js';
import type { Context } from './command.js';
import { linesOf, readRules, reportOf } from './commands/check.js';
import type { Difference } from './difference.js';
import { differenceLine, differences } from './rules-differences.js';

/** Loaded here, so that other commands do not wait for it. */
const rulesPackage = () => import('@sluice/rules');

/** The versions in the store under the name of a document. */
export interface Pushed {
  readonly source: StoredRules;
  readonly versions: readonly RulesVersion[];
  /** The versions whose texts are stored: Redis can evict texts. */
  readonly kept: readonly RulesVersion[];
  /** The text of the latest version. */
  readonly text: string | undefined;
  /** The parsed rules. Undefined also if this version of sluice rejects them. */
  readonly set: RuleSet | undefined;
}

export async function pushedRules({ store, ask }: Context, name: string): Promise<Pushed> {
  const { storedRules } = await rulesPackage();
  const source = storedRules(store, { name });
  const [versions, kept] = await ask(Promise.all([source.versions(), source.kept()]));
  const [latest] = versions;
  const isKept = latest !== undefined && isIn(kept, latest);
  const text = isKept ? await ask(source.text(latest.number)) : undefined;
  return { source, versions, kept, text, set: text === undefined ? undefined : await parsed(text) };
}

export const isIn = (versions: readonly RulesVersion[], { id }: Pick<RulesVersion, 'id'>): boolean =>
  versions.some((one) => one.id === id);

/** @returns undefined if it has problems */
export async function parsed(text: string): Promise<RuleSet | undefined> {
  const { isRulesError, parseRules } = await rulesPackage();
  try {
    return parseRules(text);
  } catch (error) {
    if (isRulesError(error)) return undefined;
    throw error;
  }
}

/** Reads a valid file whose tests pass. @param exitCode of the error @throws CliError with all problems */
export async function goodFile(
  file: string,
  context: Context,
  exitCode: ExitCode,
): Promise<{ text: string; set: RuleSet }> {
  const rules = await rulesPackage();
  const text = await readRules(file, context);
  const report = await reportOf(rules, file, text);
  if (report.ok) return { text, set: rules.parseRules(text, { file: report.file }) };
  for (const line of linesOf(rules, report)) context.output.line(line);
  context.output.json(report);
  throw new CliError(
    `${report.file} has problems, or its tests fail.`,
    'Nothing was compared or changed.',
    exitCode,
  );
}

/** Shows the differences. @returns undefined if they cannot be computed */
export function showDifferences(
  { output }: Context,
  { text, set, versions }: Pushed,
  next: { readonly text: string; readonly set: RuleSet },
): readonly Difference[] | undefined {
  const [latest] = versions;
  if (latest !== undefined && text === undefined) {
    output.say(
      `The text of ${numberOf(latest)} is gone: Redis has evicted it, or it was deleted. So what differs is not known. ` +
        'Processes that run it keep it; one that starts now has no rules.',
    );
    return undefined;
  }
  if (text !== undefined && set === undefined)
    output.say(`Number ${versions[0]!.number} in the store is not acceptable to this version of sluice.`);
  const found = differences(set, next.set);
  for (const one of found) {
    const style = ({ added: 'green', removed: 'red', changed: 'yellow' } as const)[one.kind];
    output.say(output.style(style, differenceLine(one)));
  }
  if (found.length === 0)
    output.say(text === next.text ? 'Nothing differs.' : 'Only comments and layout differ.');
  return found;
}

/** `number 12 (version 41)` */
export const numberOf = ({ number, version }: RulesVersion): string =>
  `number ${number}${version === undefined ? '' : ` (version ${String(version)})`}`;
