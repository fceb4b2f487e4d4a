import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { factsOf } from '../../../scripts/chinese/facts.js';
import {
  chinesePages,
  filesOf,
  guide,
  inChinese,
  isTranslation,
  RETOLD,
  readRecord,
  targetOf,
} from '../../../scripts/chinese/pages.js';
import { changedSections, hashesOf, sectionsOf } from '../../../scripts/chinese/sections.js';

const root = resolve(__dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = chinesePages(root);
const record = readRecord(root);

test('every page of the guide has a Chinese page, and the other way round', () => {
  expect([...pages].sort()).toEqual([...guide(root), ...Object.keys(RETOLD)].sort());
});

test('the record has the Chinese pages, and no others', () => {
  expect(Object.keys(record).sort()).toEqual([...pages].sort());
});

test('no Chinese page is behind its English page (npm run zh -- <page> records it as checked)', () => {
  const behind = pages.flatMap((page) => {
    const { chinese, english } = filesOf(page);
    return changedSections(read(english), record[page]).map(
      (section) => `${english}${section} changed after ${chinese} was checked`,
    );
  });
  expect(behind).toEqual([]);
});

test.each(pages.filter((page) => !(page in RETOLD)))(
  '%s in Chinese has the headings, code, tables, lists and links of the English page',
  (page) => {
    const { chinese, english } = filesOf(page);
    const facts = (file: string, target: (link: string) => string) =>
      sectionsOf(read(file)).map((section) => factsOf(section, target));
    const expected = facts(english, (link) => inChinese(root, targetOf(english, link)));
    expect(facts(chinese, (link) => targetOf(chinese, link))).toEqual(expected);
    expect(place(read(chinese))).toEqual(place(read(english)));
  },
);

/** Where the sidebar lists a page. */
const place = (page: string) => /^---\n[\s\S]*?\n---\n/.exec(page)?.[0].match(/^(?:order|section): .*$/gm);

test.each(Object.keys(RETOLD))(
  '%s in Chinese links to no other English page that exists in Chinese',
  (page) => {
    const { chinese, english } = filesOf(page);
    const targets = sectionsOf(read(chinese)).flatMap(
      (section) => factsOf(section, (link) => targetOf(chinese, link)).links,
    );
    expect(targets.filter((target) => target !== english && inChinese(root, target) !== target)).toEqual([]);
  },
);

const PAGE = '---\norder: 1\n---\n# Title\n\nFirst.\n\n## Part\n\n```ts\n# none\n```\n\n## Part\n\nLast.\n';

test.each([
  ['a sentence', PAGE.replace('Last', 'New'), ['#part-1']],
  ['a heading', PAGE.replace('# Title', '# Name'), ['#name', '#title']],
  ['a code block', PAGE.replace('none', 'one'), ['#part']],
  ['the front matter', PAGE.replace('order: 1', 'order: 2'), ['#']],
  ['a new section', `${PAGE}\n## More\n`, ['#more']],
  ['spaces at the end of a line', PAGE.replace('Last.', 'Last.  '), []],
])('a change of %s names the sections that changed', (_, changed, sections) => {
  expect(changedSections(changed, hashesOf(PAGE))).toEqual(sections);
});

test.each([
  ['a missing row', '| a | b |\n|---|---|\n| c | d |\n', '| a | b |\n|---|---|\n'],
  ['another number in code', 'Use `limit: 5`.\n', '用 `limit: 6`。\n'],
  ['another link', '[a](b.md#c)\n', '[甲](b.md#d)\n'],
  ['a missing item', '- one\n- two\n', '- 一\n'],
  ['other code', '```ts\nf(1); // one\n```\n', '```ts\nf(2); // 一\n```\n'],
  ['another argument', '```sh\nnpm run a -- b\n```\n', '```sh\nnpm run a -- c\n```\n'],
  ['another logged value', '```ts\nconsole.log(1); // 1\n```\n', '```ts\nconsole.log(1); // 2\n```\n'],
])('the comparison of a page finds %s', (_, english, chinese) => {
  const facts = (text: string) => sectionsOf(text).map((section) => factsOf(section, (link) => link));
  expect(facts(chinese)).not.toEqual(facts(english));
});

test('the comparison of a page ignores words and comments', () => {
  const facts = (text: string) => sectionsOf(text).map((section) => factsOf(section, (link) => link));
  const english = '# One\n\nUse `a` and [b](c.md).\n\n```ts\n/** Two. */\nf(1); // three\n```\n';
  const chinese = '# 一\n\n用 [乙](c.md) 和 `a`。\n\n```ts\n/** 二。 */\nf(1); // 三\n```\n';
  expect(facts(chinese)).toEqual(facts(english));
});

test('every Chinese page of docs/ is a translation, with the code of the English page', () => {
  expect(pages.filter((page) => !isTranslation(filesOf(page).chinese)).sort()).toEqual(
    Object.keys(RETOLD).sort(),
  );
});
