import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { admitted, busiest } from '../../../scripts/pictures/offer.js';
import { PAGE, section, shown } from '../../../scripts/pictures/page.js';
import { LENGTH, subjects } from '../../../scripts/pictures/subjects.js';
import { redisUrl } from '../../support/redis-url.js';
import { run } from '../../support/run.js';

const root = resolve(__dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const pictures = (...args: string[]) =>
  run(process.execPath, [join(root, 'scripts/pictures.mjs'), ...args], { env: { REDIS_URL: redisUrl() } });

test('the pictures and tables show the present limiters: otherwise run npm run pictures', async () => {
  // The pictures of the subjects and of prefetch, in two languages, and two pages.
  const files = 2 * (subjects.length + 1) + 2;
  // Outside of Jest, whose sandbox takes three times as long.
  expect(await pictures('--check')).toMatchObject({
    ok: true,
    output: `${files} pictures and pages are up to date\n`,
  });
}, 300_000);

test.each(subjects)('$name admits no more than its picture promises', async (subject) => {
  const went = await admitted(subject);
  expect(went.length).toBeGreaterThan(10);
  expect(Math.max(...went)).toBeLessThan(LENGTH);
  went.forEach((moment, i) => {
    expect(i + 1).toBeLessThanOrEqual(subject.promise(moment));
  });
});

test.each(subjects)('the page shows the picture of $name, which is small', ({ name }) => {
  const picture = read(`docs/pictures/${name}.svg`);
  expect(Buffer.byteLength(picture)).toBeLessThanOrEqual(8 * 1024);
  expect(read(PAGE)).toMatch(new RegExp(`!\\[${name}: .*\\]\\(pictures/${name}\\.svg\\)`));
});

test.each(['docs/pictures', 'docs/zh/pictures'])(
  'the words of the plots in %s have a contrast of 4.5 on light and dark pages',
  (folder) => {
    for (const { name } of [...subjects, { name: 'prefetch' }]) {
      const picture = read(`${folder}/${name}.svg`);
      const light = / fill="(#\w{6})">/.exec(picture)![1]!;
      const dark = /prefers-color-scheme: dark\) { svg { fill: (#\w{6}) }/.exec(picture)![1]!;
      expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(4.5);
      expect(contrast(dark, '#1b1b1f')).toBeGreaterThanOrEqual(4.5);
    }
  },
);

/** The contrast of two colours, as WCAG defines it. */
function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

test('the busiest window is half open', () => {
  expect(busiest([0, 4, 10, 11, 13], 10)).toEqual({ count: 4, end: 13 });
  expect(busiest([0, 10, 20], 10)).toEqual({ count: 1, end: 0 });
});

test('prints a picture in the terminal', async () => {
  const text = await shown('slidingLog');
  expect(text.split('\n')[2]).toBe(
    'passed ▂                 █▆▂                 ▂▂▂▂▂▂▂▂                █▅▂',
  );
  expect((await shown('all')).split('\n\n')).toHaveLength(subjects.length);
  await expect(shown('bucket')).rejects.toThrow('--show takes all or one of fixedWindow, slidingWindow');
});

test('a key uses the memory on the page: otherwise run npm run pictures -- --memory', async () => {
  const { ok, output } = await pictures('--memory', '--print');
  expect({ ok, output }).toMatchObject({ ok: true });
  const measured = figures(output);
  const documented = figures(section(read(PAGE), 'memory'));
  expect([...measured.keys()]).toEqual([...documented.keys()]);
  const wrong = [...measured].filter(([policy, bytes]) =>
    bytes.some((value, i) => !near(value, documented.get(policy)![i]!, i === 2 ? 0.35 : 0.2)),
  );
  expect({ wrong, output }).toEqual({ wrong: [], output });
}, 300_000);

/** Redis versions and allocators differ by a few bytes; heaps of Node versions by more. */
const near = (measured: number, documented: number, tolerance: number): boolean =>
  Math.abs(measured - documented) <= Math.max(32, documented * tolerance);

/** The rows of a table: the first cell, and the numbers after it. */
const figures = (text: string): Map<string, number[]> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => {
        const [policy, ...numbers] = line.slice(2, -2).split(' | ');
        return [policy!.trim(), numbers.map(Number)];
      }),
  );
