import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, DRAFT_11 } from '../../../packages/http/src/headers/draft-11.js';

const root = resolve(__dirname, '../../..');

const files = ['docs', 'packages', 'examples']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => /^(?!.*(?:node_modules|dist)\/).*\.md$/.test(file) && !file.startsWith('docs/zh/'));

/** An item of draft-11, such as `"api";r=9`. */
const ITEM = new RegExp(`"[^"\\s]+"(?:${before('quota')}|${before('remaining')})\\d`);

test('each section with an example of the headers says which draft they are of', () => {
  const silent = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split(/^(?=#+ )/m)
      .filter((section) => ITEM.test(section) && !section.includes('draft-11'))
      .map((section) => `${file}: ${section.split('\n')[0]}`),
  );
  expect(silent).toEqual([]);
});

test('the table of changes names parameters that we write', () => {
  const page = readFileSync(join(root, 'docs/headers.md'), 'utf8');
  const [, section] = page.split('\n## After draft-11\n');
  const parameters = [...section!.split('\n## ')[0]!.matchAll(/^\| `(\w+)`[:,]/gm)].map(([, name]) => name);
  expect(parameters).toEqual([DRAFT_11.remaining, DRAFT_11.reset, DRAFT_11.partition]);
});
