import { LONGEST_TIMER } from '@sluice/core/internal';
import { Command, Option } from 'commander';
import type { ExitCode } from './cli-error.js';
import type { CommandDefinition, Context } from './command.js';
import { COMMANDS } from './commands/index.js';
import { status } from './commands/status.js';
import { completionCommand, completionWordsCommand } from './completion.js';
import { askedOf, connected } from './connected.js';
import { type ConnectionOptions, connectionOf } from './connection.js';
import { exampleText, PROGRAM_NOTES, withHelp } from './help.js';
import { Notes } from './notes.js';
import { Output } from './output.js';
import { quoted } from './text.js';
import { VERSION } from './version.js';

const WRITES = '[writes]';

/** @param state receives the exit code, and the server's address for errors */
export function programOf(state: { code: ExitCode; address: string }, signal: AbortSignal): Command {
  const program = withHelp(new Command('sluice'), { outputError })
    .description(
      'Who is limited by Sluice, why, until when, and letting them through. Without a command: the state at a glance.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand('help [command]', 'explain a command')
    .addHelpText('after', PROGRAM_NOTES)
    .exitOverride();
  for (const option of GLOBAL_OPTIONS) program.addOption(option);
  for (const definition of COMMANDS) program.addCommand(commandOf(definition, program, state, signal));
  program.addCommand(completionCommand());
  return program.addCommand(completionWordsCommand(program, optionsIn), { hidden: true });
}

/** The options of another command line. */
function optionsIn(words: readonly string[]): ConnectionOptions {
  const other = new Command().exitOverride().configureOutput({ writeErr() {} });
  for (const option of GLOBAL_OPTIONS) other.addOption(option);
  other.parseOptions([...words]);
  return other.opts();
}

/** The arguments with the command that they leave out. After `help` an unknown command gets its error, as without `help`. */
export function withCommand(program: Command, args: readonly string[]): string[] {
  const { operands, unknown } = program.parseOptions([...args]);
  if (operands.length + unknown.length === 0) return [...args, status.name];
  const [first, second] = operands;
  const isUnknown =
    second !== undefined && second !== 'help' && !program.commands.some((one) => one.name() === second);
  return first === 'help' && isUnknown ? args.filter((arg) => arg !== 'help') : [...args];
}

/** The longest text of options that is repeated in other command lines. */
const LONGEST_FLAGS = 36;

/** See `Context.storeFlags`. */
function storeFlagsOf(program: Command): string | undefined {
  const given = STORE_OPTIONS.filter(
    (option) => program.getOptionValueSource(option.attributeName()) === 'cli',
  );
  const words = given.flatMap((option) => {
    const value: unknown = program.getOptionValue(option.attributeName());
    return typeof value === 'string' ? [option.long!, quoted(value)] : [option.long!];
  });
  const storeFlags = words.map((word) => `${word} `).join('');
  return storeFlags.length > LONGEST_FLAGS || /:\/\/[^/]*@/.test(storeFlags) ? undefined : storeFlags;
}

/** Say where the store is. */
const STORE_OPTIONS = [
  new Option(
    '--store <address>',
    'postgres://user@host/database, a file: sqlite:limits.db, Upstash: https://…, or the address of a Redis',
  ),
  new Option('--table <name>', 'the table in Postgres, or schema.table').default('sluice'),
  new Option('--redis <url>', 'one server: redis://host:6379/0; rediss:// for TLS'),
  new Option('--cluster <host:port,...>', 'a Redis Cluster: some of its nodes'),
  new Option('--sentinel <host:port,...>', 'sentinels, with --name'),
  new Option('--name <primary>', "the sentinels' name of the primary"),
  new Option('--user <name>', 'the ACL user; its password in REDIS_PASSWORD'),
  new Option('--tls', 'TLS, also for --cluster and --sentinel'),
  new Option('--ca <file>', 'certificates to trust, with TLS'),
  new Option('--client-prefix <prefix>', 'the keyPrefix of the Redis client of your processes'),
];

const GLOBAL_OPTIONS = [
  ...STORE_OPTIONS,
  new Option('--deadline <duration>', 'how long an answer of the store may take').default('2s'),
  new Option('--json', 'one JSON value a line, for programs'),
  new Option('--no-color', 'no colours'),
];

const ADDRESS = 'give --redis redis://user@host:6379/0, or REDIS_URL';
const PASSWORD = 'give it in REDIS_PASSWORD: on a command line other users would see it';
/** Options of redis-cli and of other tools. */
const HABITS: readonly (readonly [options: readonly string[], remedy: string])[] = [
  [['--host', '--hostname', '--port', '-p', '--url', '--uri', '-u', '--db', '-n'], ADDRESS],
  [['--password', '--pass', '-a'], PASSWORD],
];

function outputError(text: string, write: (text: string) => void): void {
  const [error = '', option = ''] = /unknown option '([^']*)'/.exec(text) ?? [];
  const [, remedy] = HABITS.find(([options]) => options.includes(option)) ?? [];
  write(remedy === undefined ? text : `error: ${error}: ${remedy}\n`);
}

function commandOf(
  definition: CommandDefinition,
  program: Command,
  state: { code: ExitCode; address: string },
  signal: AbortSignal,
): Command {
  const { name, summary, description, example, writes, offline } = definition;
  const [line] = example;
  const command: Command = withHelp(new Command(name), { outputError })
    .summary(writes ? `${WRITES} ${summary}` : summary)
    .description(writes ? `${WRITES} ${description}` : description)
    .addHelpText('after', () => exampleText(example, command))
    .showHelpAfterError(`For example: sluice ${line}`)
    .exitOverride();
  for (const [argument, meaningOf] of definition.arguments) command.argument(argument, meaningOf);
  for (const option of definition.options) command.option(option.flags, option.description, option.default);
  return command.action(async (...given: unknown[]) => {
    const own = command.opts();
    const all = command.optsWithGlobals<ConnectionOptions & { json?: boolean; color: boolean }>();
    const args = (given.slice(0, -2) as (string | string[] | undefined)[])
      .flat()
      .filter((arg) => arg !== undefined);
    const output = new Output(process.stdout, all.json === true, process.env, !all.color);
    const connection = await connectionOf(all, process.env, definition.storeOf?.(own));
    state.address = connection.address;
    const ask: Context['ask'] = (answer) => askedOf(connection, answer);
    const openOther: Context['openOther'] = (address, creates) =>
      connectionOf(all, process.env, { address, creates });
    const { stdin, stderr, env } = process;
    const notes = new Notes(stderr, env);
    const storeFlags = storeFlagsOf(program);
    const context = { ...connection, output, notes, stdin, stderr, env, storeFlags, signal, ask, openOther };
    // A database keeps no process alive, as a connection does.
    const running = setInterval(() => {}, LONGEST_TIMER);
    try {
      if (!offline) await connected(context);
      state.code = await definition.run(context, args, own);
    } finally {
      clearInterval(running);
      await connection.close();
    }
  });
}
