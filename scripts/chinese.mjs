// Keeps docs/zh in step with the English pages.
//   node scripts/chinese.mjs                    lists the sections that changed after their Chinese page was checked
//   node scripts/chinese.mjs choosing.md …      records that these Chinese pages say what the English ones say now
// The record is docs/zh/checked.json: a hash of each section of each English page.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './packages.mjs';

const require = createRequire(import.meta.url);
require('esbuild-register/dist/node').register();
const { chinesePages, filesOf, readRecord, RECORD } = require('./chinese/pages.ts');
const { changedSections, hashesOf } = require('./chinese/sections.ts');

const pages = chinesePages(root).sort();
const english = (page) => readFileSync(join(root, filesOf(page).english), 'utf8');
const record = existsSync(join(root, RECORD)) ? readRecord(root) : {};
const named = process.argv.slice(2).map((name) => name.replace(/^(?:docs\/)?(?:zh\/)?/, ''));
const unknown = named.filter((name) => !pages.includes(name));

if (unknown.length > 0) {
  console.error(`no such page in docs/zh: ${unknown.join(', ')}`);
  process.exitCode = 1;
} else if (named.length > 0) {
  const kept = pages.filter((page) => page in record || named.includes(page));
  const fresh = kept.map((page) => [page, named.includes(page) ? hashesOf(english(page)) : record[page]]);
  writeFileSync(join(root, RECORD), `${JSON.stringify(Object.fromEntries(fresh), undefined, 2)}\n`);
} else {
  for (const page of pages) {
    for (const section of changedSections(english(page), record[page])) {
      console.log(`${filesOf(page).english}${section}`);
      process.exitCode = 1;
    }
  }
}
