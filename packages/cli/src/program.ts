import { Command, Option } from 'commander';
import type { ExitCode } from './cli-error.js';
import type { CommandDefinition, Context } from './command.js';
import { COMMANDS } from './commands/index.js';
import { completionCommand } from './completion.js';
import { askedOf, connected } from './connected.js';
import { type ConnectionOptions, connectionOf } from './connection.js';
import { Notes } from './notes.js';
import { Output } from './output.js';
import { VERSION } from './version.js';

const EXIT_CODES = `
Exit codes:
  0  yes, or done
  1  no: the call would be denied, nobody knows the key, something was found
  2  it could not be done: wrong usage, no connection, no rights

Environment:
  SLUICE_STORE    the same as --store, if no option says where the store is
  PGUSER, PGPASSWORD
                  the login of Postgres, if the address has none
  REDIS_URL       the address, if there is no --redis, --cluster or --sentinel
  REDIS_USERNAME  the user, also for --cluster and --sentinel
  REDIS_PASSWORD  the password: on a command line other users would see it
  SENTINEL_USERNAME, SENTINEL_PASSWORD
                  the same for the sentinels, if they ask for it
  NO_COLOR        no colours, as --no-color

Only the commands marked [writes] change anything in the store; they ask before.
`;

const WRITES = '[writes]';
/** ms. */
const LONGEST_TIMER = 2_147_483_647;

/** @param state receives the exit code, and the server's address for errors */
export function programOf(state: { code: ExitCode; address: string }, signal: AbortSignal): Command {
  const program = new Command('sluice')
    .description('Who is limited by Sluice, why, until when, and letting them through.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand('help [command]', 'explain a command')
    .configureOutput({ outputError })
    .addHelpText('after', EXIT_CODES)
    .exitOverride();
  for (const option of GLOBAL_OPTIONS) program.addOption(option);
  for (const definition of COMMANDS) program.addCommand(commandOf(definition, state, signal));
  return program.addCommand(completionCommand(program));
}

const GLOBAL_OPTIONS = [
  new Option(
    '--store <address>',
    'postgres://user@host/database, a file: sqlite:limits.db, Upstash: https://…, or the address of a Redis',
  ),
  new Option('--table <name>', 'the table in Postgres, or schema.table').default('sluice'),
  new Option('--redis <url>', 'one server: redis://user:password@host:6379/0, rediss:// for TLS'),
  new Option('--cluster <host:port,...>', 'a Redis Cluster: some of its nodes'),
  new Option('--sentinel <host:port,...>', 'sentinels, with --name'),
  new Option('--name <primary>', "the sentinels' name of the primary"),
  new Option('--user <name>', 'the ACL user; its password in REDIS_PASSWORD'),
  new Option('--tls', 'TLS, also for --cluster and --sentinel'),
  new Option('--ca <file>', 'certificates to trust, with TLS'),
  new Option('--client-prefix <prefix>', 'the keyPrefix of the Redis client of your processes'),
  new Option('--deadline <duration>', 'how long an answer of the store may take').default('2s'),
  new Option('--json', 'one JSON value a line, for programs'),
  new Option('--no-color', 'no colours'),
];

const ADDRESS = 'give --redis redis://user@host:6379/0, or REDIS_URL';
const PASSWORD = 'give it in REDIS_PASSWORD: on a command line other users would see it';
/** Options of redis-cli and of other tools. */
const HABITS: Readonly<Record<string, string>> = {
  '--host': ADDRESS,
  '--hostname': ADDRESS,
  '--port': ADDRESS,
  '-p': ADDRESS,
  '--url': ADDRESS,
  '--uri': ADDRESS,
  '-u': ADDRESS,
  '--db': ADDRESS,
  '-n': ADDRESS,
  '--password': PASSWORD,
  '--pass': PASSWORD,
  '-a': PASSWORD,
};

function outputError(text: string, write: (text: string) => void): void {
  const [error = '', option = ''] = /unknown option '([^']*)'/.exec(text) ?? [];
  write(Object.hasOwn(HABITS, option) ? `error: ${error}: ${HABITS[option]}\n` : text);
}

function commandOf(
  definition: CommandDefinition,
  state: { code: ExitCode; address: string },
  signal: AbortSignal,
): Command {
  const { name, summary, description, example, writes, offline } = definition;
  const [line, meaning] = example;
  const command = new Command(name)
    .summary(writes ? `${WRITES} ${summary}` : summary)
    .description(writes ? `${WRITES} ${description}` : description)
    .addHelpText(
      'after',
      `\nExample:\n  $ sluice ${line}\n  ${meaning}\n\nWhere the store is, and other options of all commands: sluice --help\n`,
    )
    .configureOutput({ outputError })
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
    const openOther: Context['openOther'] = (address) =>
      connectionOf(all, process.env, { address, creates: true });
    const { stdin, stderr, env } = process;
    const notes = new Notes(stderr, env);
    const context = { ...connection, output, notes, stdin, stderr, env, signal, ask, openOther };
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
