import { COMMANDS } from '../../../packages/cli/src/commands/index.js';
import { htmlOf } from '../../../scripts/photos/ansi.js';
import { SCREENS } from '../../../scripts/photos/screens.js';

test('the photos have every command of sluice', () => {
  const photographed = new Set(SCREENS.map(({ command }) => command.split(' ')[0]));
  const names = COMMANDS.map(({ name }) => name.split(' ')[0]);
  expect(names.filter((name) => !photographed.has(name))).toEqual([]);
  expect(names.length).toBeGreaterThan(15);
});

test('a terminal shows its last view, with colours and without other sequences', () => {
  const output =
    '\u001b[?1049hold\u001b[H\u001b[J\u001b[1mls\u001b[22m \u001b[31mno <key>\u001b[39m\r\nend\u001b[K';
  const [, shown] = /<pre>([\s\S]*)<\/pre>/.exec(htmlOf(output, '$ sluice watch'))!;
  expect(shown).toBe(
    '$ sluice watch\n<span class="bold">ls</span> <span style="color: var(--red)">no &lt;key></span>\nend',
  );
});
