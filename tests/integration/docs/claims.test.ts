import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { githubAnchor } from '../../../scripts/anchors.js';

const root = resolve(__dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** A figure with its unit, such as `20 times`, `2.6 million` or `102 ms`. */
const FIGURE = /(?<![\w.])(\d+(?:\.\d+)?) (times|million|ms|µs|倍|毫秒)(?![\w-])/g;
const LINK = /\[((?:[^\]\\]|\\.)+)\]\(([^)\s]+)\)/g;

interface Claim {
  readonly figure: string;
  /** Where the text leads: `bench/README.md#stores`. */
  readonly links: readonly string[];
}

/** The claims of a text, each with the links that may prove it. Links of a list item prove all figures of the item. */
function claimsOf(file: string): Claim[] {
  const text = read(file).replace(/^```[\s\S]*?^```$/gm, '');
  const linksIn = (part: string) =>
    [...part.matchAll(LINK)]
      .map(([, , target]) => target!)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => {
        const [path, anchor] = target.split('#') as [string, string?];
        const found = path === '' ? file : relative(root, resolve(root, dirname(file), path));
        return anchor === undefined ? found : `${found}#${anchor}`;
      });
  const figuresIn = (part: string) => [...part.matchAll(FIGURE)].map(([figure]) => figure);
  const inLinks = [...text.matchAll(LINK)].flatMap(([whole, words]) =>
    figuresIn(words!).map((figure) => ({ figure, links: linksIn(whole) })),
  );
  if (file !== 'README.md') return inLinks.filter(({ links }) => links.length > 0);
  const reasons = text.split(/^## /m).flatMap((section) => section.split(/^(?=- \*\*)/m).slice(1));
  return reasons.flatMap((reason) => figuresIn(reason).map((figure) => ({ figure, links: linksIn(reason) })));
}

/** The text of a page from a heading to the next one of its level. */
function sectionOf(target: string): string {
  const [file, anchor] = target.split('#') as [string, string?];
  if (!file.endsWith('.md')) return '';
  const text = read(file);
  if (anchor === undefined) return text;
  const headings = [...text.matchAll(/^(#+) (.+)$/gm)];
  const at = headings.findIndex(([, , title]) => githubAnchor(title!) === anchor);
  if (at < 0) throw new Error(`${file} has no heading #${anchor}`);
  const end = headings.slice(at + 1).find(([, level]) => level!.length <= headings[at]![1]!.length);
  return text.slice(headings[at]!.index, end?.index);
}

/** Does a text have the figure, or a more precise number that rounds to it? */
function proves(text: string, figure: string): boolean {
  const [value, unit] = figure.split(' ') as [string, string];
  const factor = unit === 'million' ? 1e6 : 1;
  const digits = value.replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length || 1;
  const claimed = Number(value) * factor;
  const numbers = [...text.matchAll(/(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?/g)].map(([number]) =>
    Number(number.replaceAll(',', '')),
  );
  return text.includes(figure) || numbers.some((number) => Number(number.toPrecision(digits)) === claimed);
}

const claims = pages.flatMap((file) =>
  claimsOf(file).map((claim) => [file, claim.figure, claim.links] as const),
);

test('the README has claims', () => {
  expect(claims.filter(([file]) => file === 'README.md').length).toBeGreaterThan(2);
});

test.each(claims)('%s claims %s, and links to a page that proves it: %j', (_, figure, links) => {
  expect(links.filter((link) => proves(sectionOf(link), figure))).not.toEqual([]);
});

test('the decisions of the race add up to the number on the page', () => {
  const section = sectionOf('docs/reliability.md#what-was-measured');
  const rows = [...section.matchAll(/^\| every rate: [^|]+\| (\d+) decisions/gm)].map(([, count]) =>
    Number(count),
  );
  const [, claimed] = /have (\S+) million decisions in total/.exec(section)!;
  expect(rows.length).toBeGreaterThan(5);
  expect((rows.reduce((sum, count) => sum + count, 0) / 1e6).toFixed(1)).toBe(claimed);
});
