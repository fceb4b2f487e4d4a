import { isSluiceError } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { Argument, Command, CommanderError } from 'commander';
import { CliError } from './cli-error.js';
import { askedOf } from './connected.js';
import { type ConnectionOptions, connectionOf } from './connection.js';
import { withHelp } from './help.js';
import { upstreamNames } from './upstreams.js';

/** What the scripts of shells call to get the words that complete a command line. */
const WORDS = 'completion-words';
/** How long a person waits for the names of limiters. */
const PATIENCE = '1s';

// A word is compared and added as it is, and never read by the shell. bash splits words at colons: the parts before the last one are
// cut off again.
const BASH = `_sluice() {
  local line=\${COMP_LINE:0:$COMP_POINT} name
  local typed=\${line##* }
  local before=\${typed%"\${COMP_WORDS[COMP_CWORD]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r name _; do
    case $name in
      "$typed"*) COMPREPLY+=("\${name#"$before"}") ;;
    esac
  done < <(sluice ${WORDS} "$line" 2>/dev/null)
}
complete -o default -F _sluice sluice
`;

const SCRIPTS = {
  bash: BASH,
  zsh: `#compdef sluice\nautoload -U +X bashcompinit && bashcompinit\n${BASH}`,
  fish: `complete -c sluice -a '(sluice ${WORDS} (commandline -cp | string collect) 2>/dev/null)'\n`,
};

/** `sluice completion bash`: commander has no completion of its own, and the commands are a flat list. */
export function completionCommand(): Command {
  return withHelp(new Command('completion'), {})
    .summary('print the completion of a shell')
    .description(
      'Prints a script that completes commands, options and the names of limiters in your shell. Names come from the store that the ' +
        'command line or the environment says, if it answers within a second.',
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nExample:\n  $ source <(sluice completion bash)\n  Completes in this shell; put the line into ~/.bashrc to\n  keep it. zsh: the same, in ~/.zshrc. fish:\n  $ sluice completion fish | source\n',
    )
    .exitOverride()
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell]);
    });
}

/**
 * `sluice completion-words LINE` prints the words that may come next, one a line, with a tab before their meaning. It prints no names of limiters
 * if the store is out: an error would disturb a command line that is being typed.
 * @param parse reads the options of a command line
 */
export function completionWordsCommand(
  program: Command,
  parse: (words: readonly string[]) => ConnectionOptions,
): Command {
  return new Command(WORDS)
    .addArgument(new Argument('<line>', 'the command line so far'))
    .exitOverride()
    .action(async (line: string) => {
      // The last one is being typed.
      const words = line.split(/\s+/).slice(1, -1);
      const command = program.commands.find((one) => words.includes(one.name()));
      const isFirst = words.at(-1) === command?.name();
      const argument = command?.registeredArguments[0]?.name();
      const takesLimiter = isFirst && (argument === 'limiter' || argument === 'upstream');
      const options = [...(command?.options ?? []), ...program.options];
      const takesValue = options.some(({ long, required }) => required && long === words.at(-1));
      const isName = words.at(-1) === '--limiter' || (takesLimiter && !/\s-\S*$/.test(line));
      const commands = command === undefined ? program.commands.filter((one) => one.name() !== WORDS) : [];
      const listed = isName
        ? (await namesIn(words, parse, takesLimiter ? argument : 'limiter')).map((name) => [name])
        : takesValue
          ? []
          : [
              ...commands.map((one) => [one.name(), one.summary()]),
              ...options.map(({ long, description }) => [long!, description]),
              ['--help', 'explain a command'],
            ];
      for (const one of listed) process.stdout.write(`${one.join('\t')}\n`);
    });
}

/** The names of limiters; none if the store is out, or the line has a mistake that the command itself will explain. */
async function namesIn(
  words: readonly string[],
  parse: (words: readonly string[]) => ConnectionOptions,
  kind: string | undefined,
): Promise<string[]> {
  try {
    const options = parse(words.map((word) => word.replace(/^(['"])(.*)\1$/, '$2')));
    const connection = await connectionOf({ ...options, deadline: PATIENCE }, process.env);
    try {
      const fleet = await askedOf(connection, readDefinitions(connection.store));
      const limiters = fleet.flatMap((process) => process.limiters);
      const names = kind === 'upstream' ? [] : limiters.map(({ name }) => name);
      return [...new Set([...names, ...upstreamNames(limiters)])].sort();
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (isSluiceError(error) || error instanceof CliError || error instanceof CommanderError) return [];
    throw error;
  }
}
