import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(__dirname, '../../../docs');
const index = readFileSync(join(docs, 'migration.md'), 'utf8');
const pages = readdirSync(join(docs, 'migration'));
const textOf = (page: string) => readFileSync(join(docs, 'migration', page), 'utf8');

test('the index links to every page, in the order of the pages', () => {
  const links = [...index.matchAll(/\]\(migration\/([\w-]+\.md)\)/g)].map(([, page]) => page!);
  expect([...links].sort()).toEqual([...pages].sort());
  expect(links.map((page) => Number(/^order: (\d+)$/m.exec(textOf(page))?.[1]))).toEqual(
    links.map((_, at) => at + 1),
  );
});

describe.each(pages)('%s', (page) => {
  const text = textOf(page);

  test('has a heading, both programs, the differences and the rollout', () => {
    expect(text).toMatch(/^---\norder: \d+\n---\n\n# From /);
    for (const side of ['Before', 'With Sluice'])
      expect(text).toMatch(new RegExp(`^(?://|#) ${side}(?:: .+)?$`, 'm'));
    expect(text).toContain('## What behaves differently, and why');
    expect(text).toContain('## Rolling out');
  });

  test('has no table wider than 100 columns', () => {
    const wide = text.split('\n').filter((line) => line.startsWith('|') && [...line].length > 100);
    expect(wide).toEqual([]);
  });

  test('has a test', () => {
    const tests = readdirSync(__dirname).filter((file) => file.endsWith('.test.ts'));
    const named = (file: string) =>
      readFileSync(join(__dirname, file), 'utf8').includes(page.replace('.md', ''));
    expect(tests.filter((file) => file !== 'pages.test.ts').some(named)).toBe(true);
  });
});
