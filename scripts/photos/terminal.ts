import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { bundle } from '../../tests/support/bundle.js';
import { run } from '../../tests/support/run.js';
import { onTerminal } from '../../tests/support/terminal.js';
import type { Subject } from './album.js';
import { htmlOf } from './ansi.js';
import { withDemo } from './demo.js';
import { withTraffic } from './live.js';
import { SCREENS, type Screen, SIMULATE } from './screens.js';

/** Columns of a terminal that fits the width of a window, px. */
const COLUMNS: Readonly<Record<number, number>> = { 1280: 120, 390: 44 };
const ROWS = 40;
const CTRL_C = '\u0003';

/**
 * The screens of `sluice` beside a running demo that counts in a file, and the page that `simulate` writes.
 * @param chooses which names are wanted: the other commands do not run
 */
export async function terminalSubjects(root: string, chooses: (name: string) => boolean): Promise<Subject[]> {
  const screens = SCREENS.filter(({ name }) => chooses(`terminal/${name}`));
  const folder = await mkdtemp(join(tmpdir(), 'sluice-photos-'));
  const cli = await bundle(join(root, 'packages/cli/src/bin.ts'));
  // For the drivers of databases, which the command loads while it runs.
  await symlink(join(root, 'node_modules'), join(dirname(cli.file), 'node_modules'));
  const shown = new Map<string, string>();
  let report: string;
  try {
    report = await reportOf(root, cli.file, join(folder, 'report.html'));
    for (const [width, columns] of Object.entries(COLUMNS)) {
      const [store, other] = [`sqlite:${folder}/limits-${width}.db`, `sqlite:${folder}/other-${width}.db`];
      const short = (text: string) => text.replaceAll(`${folder}/`, '').replaceAll(`-${width}.db`, '.db');
      const typeAll = async () => {
        // Processes publish what they counted every 10 s.
        await sleep(12_000);
        for (const screen of screens) {
          const command = screen.command.replace('STORE', store).replace('OTHER', other);
          const text = await typed(`cd ${root} && node ${cli.file} ${command}`, columns, screen);
          shown.set(`${screen.name} ${width}`, htmlOf(short(text), short(`$ sluice ${command}`)));
        }
      };
      await withDemo(root, store, (url) => withTraffic(url, typeAll));
    }
  } finally {
    await cli.remove();
    await rm(folder, { recursive: true, force: true });
  }
  return [
    ...screens.map(({ name }) => ({
      name: `terminal/${name}`,
      open: (page: Page, width: number) => page.setContent(shown.get(`${name} ${width}`)!),
    })),
    { name: 'terminal/simulate-page', open: (page: Page) => page.setContent(report) },
  ];
}

/** The output of a command on a terminal of its own. */
async function typed(command: string, columns: number, { answer }: Screen): Promise<string> {
  const terminal = onTerminal(command, columns, ROWS);
  const ended = terminal.ended.then(() => true);
  if (answer !== undefined) {
    for (let i = 0; i < 100 && !terminal.text.includes('[y/N]'); i += 1) await sleep(100);
    terminal.type(`${answer}\n`);
  } else if (!(await Promise.race([ended, sleep(6000)]))) terminal.type(CTRL_C);
  await ended;
  return terminal.text;
}

/** @throws Error if `simulate` does not write its page */
async function reportOf(root: string, cli: string, file: string): Promise<string> {
  const { output } = await run(process.execPath, [cli, ...SIMULATE.split(' '), '--html', file], {
    cwd: root,
  });
  if (!existsSync(file)) throw new Error(`sluice simulate wrote no page: ${output}`);
  return readFile(file, 'utf8');
}
