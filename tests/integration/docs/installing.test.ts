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

const ROW = /^\| `@sluice\/([\w-]+)` \| [^|]+ \| ([^|]+) \|/gm;
const TARBALLS = /npm install \S*\/sluice-\{([\w,-]+)\}-\*\.tgz/g;

test('the commands that install tarballs name all packages that these need', () => {
  const table = readFileSync(join(root, 'docs/installing.md'), 'utf8');
  const needs = new Map(
    [...table.matchAll(ROW)].map(([, name, others]) => [name!, others!.match(/[\w-]+/g) ?? []]),
  );
  expect(needs.get('rules')).toEqual(['core', 'fleet', 'http']);
  const commands = ['README.md', 'docs/installing.md', 'docs/zh/README.md', 'docs/zh/installing.md'].flatMap(
    (page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(TARBALLS)].map(([, names]) => ({
        page,
        names: names!.split(','),
      })),
  );
  expect(commands).toHaveLength(4);
  const missing = commands.flatMap(({ page, names }) =>
    names
      .flatMap((name) => needs.get(name) ?? ['a package of that name'])
      .filter((needed) => !names.includes(needed))
      .map((needed) => `${page}: ${needed}`),
  );
  expect(missing).toEqual([]);
});

test('the table has every package', () => {
  const page = readFileSync(join(root, 'docs/installing.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `(@sluice\/[\w-]+)` \| (?:yes|not yet) \|/gm)].map(
    ([, name]) => name,
  );
  const names = readdirSync(join(root, 'packages')).map((name) => `@sluice/${name}`);
  expect(listed).toEqual(names.sort());
});
