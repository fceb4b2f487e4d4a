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

const SAID = {
  titles: /(?<![.\w])(?:test|describe)\b[^'"`\n]*(['"`]).*\1,|\)\(\s*(['"`]).*?\2,/gm,
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

test('a phrase is found across lines of a comment', () => {
  const text = 'one\n  // is\n  // told\n * so\n * many\n';
  for (const phrase of ['is told', 'so many']) {
    expect(text).toMatch(new RegExp(phrase.replaceAll(' ', GAP)));
  }
});
