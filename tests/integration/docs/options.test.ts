import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { REQUEST_LIMIT_OPTIONS, type RequestLimitOptions } from '@sluice/http';
import { frameworks } from '../../contracts/adapters/on-each-framework.js';

type Shared = RequestLimitOptions<never>;

type Missing = Exclude<keyof Shared, (typeof REQUEST_LIMIT_OPTIONS)[number]>;
/** Does not compile if the type has an option that is not among the accepted names. */
const complete: [Missing] extends [never] ? true : Missing = true;

const page = readFileSync(resolve(__dirname, '../../../docs/options.md'), 'utf8');
const [shared, ...sections] = page.split(/^## Only in /m) as [string, ...string[]];
const documented = (text: string) =>
  [...text.matchAll(/^\| (`.*?`(?:, `.*?`)*) +\|/gm)].flatMap(([, names]) =>
    names!.split(', ').map((name) => name.replaceAll('`', '')),
  );

test('the tables name exactly the options that all adapters share', () => {
  expect(complete).toBe(true);
  expect(documented(shared).sort()).toEqual([...REQUEST_LIMIT_OPTIONS].sort());
});

test.each(frameworks.map(({ name, ownOptions }) => [name, ownOptions] as const))(
  'the table of %s names every option of its own',
  (name, options) => {
    const section = sections.find((text) => name.startsWith(/\w+/.exec(text)![0]));
    if (section === undefined) throw new Error(`docs/options.md has no section "Only in ${name}"`);
    expect(documented(section).sort()).toEqual(Object.keys(options).sort());
  },
);
