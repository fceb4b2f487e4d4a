import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PHRASES, SPOKEN } from './words.js';

const root = resolve(__dirname, '../../..');

/** Neither ours to write, nor English, nor words at all. The words themselves are in two files here. */
const SKIPPED =
  /(?:^|\/)(?:node_modules|dist|coverage|reference|\..*-cache|cache|\.git|\.build-[^/]*|zh)(?:\/|$)|\.script\.ts$|structure\/words(?:\.test)?\.ts$/;
const READ = /\.(?:[cm]?[jt]s|lua|md|ya?ml|vue)$/;

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (SKIPPED.test(path)) return [];
    if (entry.isDirectory()) return filesIn(path);
    return READ.test(path) ? [path] : [];
  });
}

const files = filesIn('.').map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** Between two words: spaces, or the end of a line and what begins the next line of a comment or a quotation. */
const GAP = String.raw`(?:[ \t]|\r?\n[ \t]*(?:\/\/|\*|--|>)?[ \t]*)+`;

/** Every match of a pattern: file, line, text, and the replacement. */
function placesOf(pattern: RegExp, instead: string): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${path}:${line}: "${found.replace(/\s+/g, ' ')}": ${instead}`;
    }),
  );
}

test('the files include pages, docs and scripts', () => {
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'docs/options.md', 'scripts/lua.mjs']));
  expect(paths.filter((path) => path.includes('node_modules'))).toEqual([]);
});

test.each(Object.entries(PHRASES))('no file has the phrase "%s"', (phrase, instead) => {
  const pattern = new RegExp(String.raw`\b(?:${phrase.replaceAll(' ', GAP)})\b`, 'gi');
  expect(placesOf(pattern, instead)).toEqual([]);
});

/** A string, or a template whose values may have strings of their own. */
const TEXT = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|\$\{[^}]*\}|\$(?!\{)|[^`\\$])*`/.source;
/** `test(`, `describe.skip(`, and what follows a table of `each` or the ability of a framework: `)(`. */
const CALL = /(?:(?<![.\w])(?:test|it|describe)(?:\.\w+)*|[)`])\(/.source;

const SAID = {
  titles: new RegExp(`${CALL}\\s*(?<title>${TEXT})`, 'g'),
  comments: /(?<=^|\s)\/(?:\/|\*\*) .*$|^ *\* .*$/gm,
};

test.each(Object.entries(SPOKEN))('no title and no comment has %s', (phrase, instead) => {
  const pattern = new RegExp(String.raw`\b(?:${phrase})\b`);
  const places = Object.values(SAID).flatMap((said) =>
    files
      .filter(({ path }) => !path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(said)]
          .filter(([match]) => pattern.test(match))
          .map(
            ({ 0: match, index }) =>
              `${path}:${text.slice(0, index).split('\n').length}: ${match}: ${instead}`,
          ),
      ),
  );
  expect(places).toEqual([]);
});

test('the check reads titles in every form and position', () => {
  const text = `
test('one line', async () => {
it("it's \\"quoted\\"", () => {
describe(
  'the line after',
test.each([
  ['a row', 1],
])('a table %s', () => {
describe.each(kinds)(
  'a table, the line after',
test.each\`
  a | b
\`('a tagged table $a', () => {
test.skip(
  \`a template of \${kind}, \${isMany ? \`many\` : 'one'}
    and two lines\`,
needs('trustProxy')(
  'an ability',
program.test('no title');
describe(value);
`;
  expect([...text.matchAll(SAID.titles)].map(({ groups }) => groups!.title)).toEqual([
    "'one line'",
    String.raw`"it's \"quoted\""`,
    "'the line after'",
    "'a table %s'",
    "'a table, the line after'",
    "'a tagged table $a'",
    expect.stringMatching(/^`a template of .*and two lines`$/s),
    "'an ability'",
  ]);
});

test('no test file has more tests than titles that the check reads', () => {
  const tests = /^ *(?:test|it|describe)(?:\.\w+)*\(/gm;
  const unread = files
    .filter(({ path }) => /\.(?:test|suite)\.ts$/.test(path))
    .filter(({ text }) => [...text.matchAll(tests)].length > [...text.matchAll(SAID.titles)].length);
  // Its title is the name of a store.
  expect(unread.map(({ path }) => path)).toEqual(['tests/contracts/store/all.suite.ts']);
});

test('a phrase is found across lines of a comment', () => {
  const text = 'one\n  // is\n  // told\n * so\n * many\n';
  for (const phrase of ['is told', 'so many']) {
    expect(text).toMatch(new RegExp(phrase.replaceAll(' ', GAP)));
  }
});
