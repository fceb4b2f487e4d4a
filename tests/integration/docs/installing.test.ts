import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../..');

test('the pages agree with the switch that says which packages are on npm', () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'scripts/install-notes.mjs'), '--check'],
    {
      encoding: 'utf8',
    },
  );
  expect([status, stdout]).toEqual([0, '']);
});

test('no page of docs/ says by hand which packages are on npm', () => {
  const generated = /<!-- generated: published[\s\S]*?<!-- end -->/g;
  const files = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && file !== 'comparison.md',
  );
  const byHand = files.filter((file) =>
    /\b(?:not|yet) on npm\b/.test(readFileSync(join(root, 'docs', file), 'utf8').replace(generated, '')),
  );
  expect(byHand).toEqual([]);
});

test('the table has every package', () => {
  const page = readFileSync(join(root, 'docs/installing.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `(@sluice\/[\w-]+)` \| (?:yes|not yet) \|/gm)].map(
    ([, name]) => name,
  );
  const names = readdirSync(join(root, 'packages')).map((name) => `@sluice/${name}`);
  expect(listed).toEqual(names.sort());
});
