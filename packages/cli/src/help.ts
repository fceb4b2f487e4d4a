import { type Command, Help, type OutputConfiguration } from 'commander';
import type { CommandDefinition } from './command.js';
import { columnsOf } from './output.js';
import { wrapped } from './text.js';

/** Longer lines are hard to read. It is also the width in a pipe. */
const WIDEST = 80;
/** Columns that a description needs beside its option. */
const LEAST = 20;

/** Behind the help of the program, in at most 60 columns. */
export const PROGRAM_NOTES = `
Exit codes:
  0  yes, or done
  1  no: the call would be denied, nobody knows the key,
     something was found
  2  not done: wrong usage, no connection, no rights

Environment:
  SLUICE_STORE     the same as --store
  REDIS_URL        the address, if no option has it
  REDIS_USERNAME, REDIS_PASSWORD, SENTINEL_USERNAME,
  SENTINEL_PASSWORD, PGUSER, PGPASSWORD,
  UPSTASH_REDIS_REST_TOKEN
                   the login: other users see command lines
  NO_COLOR         no colours, as --no-color

Only the commands marked [writes] change anything in the
store; they ask before. serve counts, and does not ask.
`;

/** Help that fits the terminal. Of a command it lists the name alone: `sluice help NAME` shows its arguments. */
export const withHelp = (command: Command, output: OutputConfiguration): Command =>
  command
    .configureOutput({
      ...output,
      getOutHelpWidth: () => widthOf(process.stdout),
      getErrHelpWidth: () => widthOf(process.stderr),
    })
    .configureHelp({ minWidthToWrap: LEAST, subcommandTerm: (one) => one.name(), formatItem });

/** An option or a command. In a narrow terminal its description is below it. */
function formatItem(this: Help, term: string, termWidth: number, description: string, help: Help): string {
  const width = help.helpWidth ?? WIDEST;
  const beside = width - termWidth - '    '.length;
  if (description === '' || beside >= LEAST)
    return Help.prototype.formatItem.call(this, term, termWidth, description, help);
  return [`  ${term}`, ...wrapped(description, width, '      ')].join('\n');
}

const widthOf = (stream: NodeJS.WriteStream): number => Math.min(WIDEST, columnsOf(stream, process.env));

/** Behind the help of a command. */
export function exampleText([line, meaning]: CommandDefinition['example'], command: Command): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? WIDEST;
  const shown = meaning
    .split('\n')
    .flatMap((one) => wrapped(one.trimStart(), width, one.startsWith(' ') ? '    ' : '  '));
  const common = wrapped('Where the store is, and other options of all commands: sluice --help', width);
  return ['', 'Example:', `  $ sluice ${line}`, ...shown, '', ...common, ''].join('\n');
}
