import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../..');
const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
const warnings = readFileSync(join(root, 'docs/warnings.md'), 'utf8');

const sources = readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /^[^/]+\/src\/(?!.*\.(?:test|script)\.ts$).*\.ts$/.test(file))
  .map((file) => readFileSync(join(root, 'packages', file), 'utf8'));

/** The rows of a section, without its head. */
function rowsOf(title: string): string[] {
  const [, section] = page.split(`\n## ${title}\n`);
  return section!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2);
}

const codesIn = (text: string) => [...text.matchAll(/\bSLUICE_[A-Z0-9_]+\b/g)].map(([code]) => code);

test('the page has every code of our errors, with its guard', () => {
  const classes = sources.flatMap((text) =>
    [...text.matchAll(/class (\w+Error)\b[^{]*\{(?:(?!class )[\s\S])*?code = '(SLUICE_\w+)'/g)].map(
      ([, name, code]) => [code!, sources.some((other) => other.includes(`is${name}`)) ? `is${name}` : '–'],
    ),
  );
  const documented = rowsOf('Error codes').map((row) => {
    const [, code, guard] = row.split('|').map((cell) => cell.trim().replaceAll('`', ''));
    return [code!, guard!];
  });
  expect(classes.length).toBeGreaterThan(10);
  expect(documented.sort()).toEqual(classes.sort());
});

test('the page links to the section of every warning', () => {
  const sections = [...warnings.matchAll(/^## (SLUICE_\w+)$/gm)].map(([, code]) => code!);
  const linked = rowsOf('Warning codes').map((row) => codesIn(row)[0]!);
  expect(linked.sort()).toEqual(sections.sort());
});

test('every code on the page is one of our errors or warnings', () => {
  const known = new Set(sources.flatMap(codesIn));
  expect(codesIn(page).filter((code) => !known.has(code))).toEqual([]);
});

test('every error text on the page is a text of our sources', () => {
  const joined = sources
    .map((text) => text.replace(/['`] \+\s+['`]/g, ''))
    .join('\n')
    .toLowerCase();
  const texts = rowsOf('Error texts').flatMap((row) =>
    [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!),
  );
  expect(texts.filter((text) => !joined.includes(text.toLowerCase()))).toEqual([]);
  expect(texts.length).toBeGreaterThan(25);
});
