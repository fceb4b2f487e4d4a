import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { run } from '../../support/run.js';

const root = resolve(__dirname, '../../..');

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : testFiles(path);
    return /\.test\.[cm]?[jt]sx?$/.test(entry.name) ? [path] : [];
  });
}

async function filesOf(suite: string): Promise<string[]> {
  const jest = [require.resolve('jest/bin/jest'), '--listTests', '--json', '--selectProjects', suite];
  const { ok, output } = await run(process.execPath, jest, { cwd: root });
  if (!ok) throw new Error(output);
  return JSON.parse(output.slice(output.indexOf('[')));
}

test('every test file belongs to exactly one of `npm test` and `npm run test:deep`', async () => {
  const [quick, deep, legacy] = await Promise.all(['quick', 'deep', 'legacy'].map(filesOf));
  const all = testFiles(root).sort();
  expect([...quick!, ...deep!].sort()).toEqual(all);
  expect(deep!.sort()).toEqual(all.filter((file) => file.includes('.deep.')));
  expect(legacy!.sort()).toEqual(all.filter((file) => file.includes('.dialects.')));
  expect(legacy!.length).toBeGreaterThan(4);
  expect(Math.min(quick!.length, deep!.length)).toBeGreaterThan(20);
}, 120_000);

test('tests/README.md has a line for every folder', () => {
  const tests = join(root, 'tests');
  const readme = readFileSync(join(tests, 'README.md'), 'utf8');
  const folders = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => dirname(file).replaceAll('\\', '/'))
    .map((folder) => folder.replace(/(\/consumers\/projects)\/.*/, '$1'));
  expect([...new Set(folders)].filter((folder) => !readme.includes(`\n| \`${folder}/\` `))).toEqual([]);
});

test('random cases come from the seed of the run, in every file of the tests', () => {
  const sources = ['packages', 'examples', 'tests'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => !/node_modules|dist\//.test(file))
      .filter((file) => (folder === 'tests' ? /\.[cm]?ts$/ : /\.test\.[cm]?ts$/).test(file))
      .map((file) => join(folder, file)),
  );
  expect(sources.length).toBeGreaterThan(500);
  // `tests/support/random.ts` and fast-check draw from a seed. For a unique name use `uniqueName`.
  const unseeded = sources.filter((file) => /Math\.random\(\)/.test(readFileSync(join(root, file), 'utf8')));
  expect(unseeded).toEqual([]);
});
