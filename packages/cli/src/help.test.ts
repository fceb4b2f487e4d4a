import { programOf, withCommand } from './program.js';

/** The help of a command, or of the program, at this width. */
function helpOf(name: string | undefined, columns: number): string {
  const program = programOf({ code: 0, address: '' }, new AbortController().signal);
  const command = name === undefined ? program : program.commands.find((one) => one.name() === name)!;
  let text = '';
  command.configureOutput({
    getOutHelpWidth: () => columns,
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

const names = programOf({ code: 0, address: '' }, new AbortController().signal).commands.map((one) =>
  one.name(),
);

test.each([undefined, ...names])('no line of the help of %s is longer than 60 columns', (name) => {
  const text = helpOf(name, 60);
  expect(text).toMatch(/^Usage: sluice/);
  expect(text.split('\n').filter((line) => [...line].length > 60)).toEqual([]);
});

test('in a narrow terminal a description is below its option or command, indented', () => {
  const [items = ''] = helpOf(undefined, 44).split('Exit codes:');
  expect(items.split('\n').filter((line) => [...line].length > 44)).toEqual([]);
  expect(items).toMatch(/^ {2}explain\n {6}would a call pass now, and why not$/m);
});

test('the help lists the commands by their names, without the one that only completion calls', () => {
  const text = helpOf(undefined, 80);
  expect(text).toMatch(/^ {2}explain +would a call pass now/m);
  expect(text).not.toContain('completion-words');
});

test('help of an unknown command reports it, and suggests one', () => {
  const program = programOf({ code: 0, address: '' }, new AbortController().signal);
  let text = '';
  program.configureOutput({
    writeErr: (part) => {
      text += part;
    },
  });
  expect(() => program.parse(withCommand(program, ['help', 'blok']), { from: 'user' })).toThrow();
  expect(text).toMatch(/^error: unknown command 'blok'\n\(Did you mean block\?\)\n$/);
  for (const known of [['help'], ['help', 'block'], ['help', 'help']])
    expect(withCommand(program, known)).toEqual(known);
});
