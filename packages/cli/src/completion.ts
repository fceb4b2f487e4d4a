import { Argument, Command } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish';

/** `sluice completion bash`: commander has no completion of its own, and the commands are a flat list. */
export function completionCommand(program: Command): Command {
  return new Command('completion')
    .summary('print the completion of a shell')
    .description('Prints a script that completes commands and options in your shell.')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      '\nExample:\n  $ source <(sluice completion bash)\n  Completes in this shell; put the line into ~/.bashrc to keep it.\n  fish: sluice completion fish > ~/.config/fish/completions/sluice.fish\n',
    )
    .exitOverride()
    .action((shell: Shell) => {
      process.stdout.write(SCRIPTS[shell](program));
    });
}

const flagsOf = (command: Command): string[] =>
  command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null)) as string[];

const namesOf = (program: Command): string[] => [
  ...program.commands.map((command) => command.name()),
  'help',
];

const SCRIPTS: Readonly<Record<Shell, (program: Command) => string>> = {
  bash: (program) => `_sluice() {
  local word=\${COMP_WORDS[COMP_CWORD]} command= flags='${flagsOf(program).join(' ')} --help'
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${namesOf(program).join('|')}) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
    '') COMPREPLY=($(compgen -W "$flags ${namesOf(program).join(' ')}" -- "$word")); return ;;
${program.commands.map((command) => `    ${command.name()}) flags="$flags ${flagsOf(command).join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$flags" -- "$word"))
}
complete -o default -F _sluice sluice
`,
  zsh: (program) => `#compdef sluice
autoload -U +X bashcompinit && bashcompinit
${SCRIPTS.bash(program)}`,
  fish: (program) =>
    [
      'complete -c sluice -f',
      ...program.options.map(
        ({ long, description }) => `complete -c sluice -l ${long!.slice(2)} -d ${quoted(description)}`,
      ),
      ...program.commands.flatMap((command) => [
        `complete -c sluice -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.summary())}`,
        ...command.options.map(
          ({ long, description }) =>
            `complete -c sluice -n '__fish_seen_subcommand_from ${command.name()}' -l ${long!.slice(2)} -d ${quoted(description)}`,
        ),
      ]),
      '',
    ].join('\n'),
};

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
