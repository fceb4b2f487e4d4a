import { createInterface } from 'node:readline';
import type { RateLimiter } from '@sluice/core';
import { openLimiter } from '@sluice/fleet';
import { CliError, type ExitCode } from './cli-error.js';
import type { CommandOption, Context } from './command.js';
import { fleetOf, type KnownLimiter, NOBODY, named, notLookedAt, withKeys } from './fleet.js';
import { type KeyReport, linesOf, lookAt } from './key-report.js';
import { forTerminal, shownKey } from './text.js';

/** The argument of every command that changes a key. */
export const KEY = ['<key>', 'the key as the limiter gets it: an address, a user id'] as const;
export const ASKS =
  'Says what the key was, asks before it changes anything, and exits with 1 if nothing was changed.';

/** Options of every command that changes a key. */
export const CHANGE_OPTIONS: readonly CommandOption[] = [
  { flags: '--limiter <name>', description: 'the limiter' },
  { flags: '--yes', description: 'do not ask' },
];

type Options = Readonly<Record<string, string | boolean | undefined>>;

export interface Change {
  /** For the prompt and the result: `Unblock`, `unblocked`. */
  readonly verb: string;
  readonly done: string;
  /** Without --limiter: is it one of the limiters to change? Default: there must be only one limiter. */
  readonly concerns?: (report: KeyReport) => boolean;
  /** The message if no limiter is concerned. */
  readonly nothing?: string;
  /** Further words of the prompt: ` for 1h`. */
  readonly how?: string;
  /** Before the prompt. @throws CliError if it cannot be done */
  check?(known: KnownLimiter): void;
  apply(limiter: RateLimiter, known: KnownLimiter): Promise<void>;
  /** Further steps for the operator. */
  advice?(after: KeyReport): string | undefined;
}

/** Shows a key, asks for confirmation, changes the key, and shows the result. */
export async function change(
  context: Context,
  key: string,
  options: Options,
  what: Change,
): Promise<ExitCode> {
  const { output } = context;
  const before = await concerned(context, key, options, what);
  if (before.length === 0) {
    output.say(`${what.nothing ?? 'There is nothing to change.'}`);
    const left = options.limiter === undefined ? notLookedAt(withKeys(await fleetOf(context))) : undefined;
    if (left !== undefined) output.say(left);
    output.json({ key, done: false });
    return 1;
  }
  for (const { limiter } of before) what.check?.(limiter);
  for (const report of before) say(context, report, '');
  const names = before.map(({ limiter }) => `'${limiter.definition.name}'`).join(' and ');
  const question = `${what.verb} '${shownKey(key)}' at ${names}${what.how ?? ''}?`;
  if (options.yes !== true && !(await confirmed(context, question))) {
    output.say('Nothing was changed.');
    return 1;
  }
  for (const { limiter: known, seen } of before) {
    const limiter = openLimiter(context.store, known.definition);
    try {
      await context.ask(what.apply(limiter, known));
    } finally {
      await limiter.close();
    }
    const after = await lookAt(context, known, key);
    output.json({ limiter: known.definition.name, key, done: true, before: seen, after: after.seen });
    output.say(
      output.style('green', `'${shownKey(key)}' is ${what.done} at '${known.definition.name}'. Now:`),
    );
    say(context, after, '  ');
    const advice = what.advice?.(after);
    if (advice !== undefined) output.say(advice);
  }
  return 0;
}

async function concerned(
  context: Context,
  key: string,
  { limiter: name }: Options,
  { concerns }: Change,
): Promise<readonly KeyReport[]> {
  const fleet = await fleetOf(context);
  const limiters = typeof name === 'string' ? named(fleet, name) : withKeys(fleet);
  if (limiters.length === 0) throw new CliError('No process has published limiters.', NOBODY, 1);
  const reports = await Promise.all(limiters.map((limiter) => lookAt(context, limiter, key)));
  if (typeof name === 'string') return unique(reports);
  if (concerns !== undefined) return unique(reports.filter(concerns));
  const names = [...new Set(limiters.map(({ definition }) => definition.name))];
  if (names.length === 1) return unique(reports);
  throw new CliError('Which limiter?', `Add --limiter with one of: ${names.join(', ')}.`);
}

/** Limiters with the same storage keys count as one, also with different numbers. */
function unique(reports: readonly KeyReport[]): KeyReport[] {
  const byKeys = new Map(
    reports.map((report) => [JSON.stringify(report.limiter.definition.prefixes), report]),
  );
  return [...byKeys.values()];
}

function say({ output }: Context, { limiter, seen, problem }: KeyReport, indent: string): void {
  const { name } = limiter.definition;
  if (seen === undefined) output.say(`${name} cannot be read: ${problem!}.`, indent);
  for (const policy of seen?.policies ?? []) {
    output.say(output.style('bold', policy.name === name ? name : `${name}, ${policy.name}`), indent);
    for (const line of linesOf(policy, seen!.now)) output.say(line, `${indent}  `);
  }
}

/** Asks for confirmation. A prompt that is closed without an answer is a no. @throws CliError without a terminal */
export async function confirmed({ stdin, stderr, signal }: Context, question: string): Promise<boolean> {
  if (stdin.isTTY !== true)
    throw new CliError(
      'This changes limits, and there is no terminal to ask on.',
      'Add --yes if you are sure.',
    );
  const terminal = createInterface({ input: stdin, output: stderr, signal });
  // In a terminal Ctrl-C is a key: it closes the prompt, as Ctrl-D does, and no signal comes.
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(forTerminal(`${question} [y/N] `), resolve);
  });
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}
