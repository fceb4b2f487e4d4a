// Writes into the pages which packages are on npm, by `published.json`: `onNpm` is "all", or a list of names.
//   node scripts/install-notes.mjs           rewrites the sections <!-- generated: published … --> and <!-- generated: published-table … -->
//   node scripts/install-notes.mjs --check   fails if one is out of date
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { packages, root } from './packages.mjs';

const require = createRequire(import.meta.url);
require('esbuild-register/dist/node').register();
const { withSection } = require('./sections.ts');

const { onNpm } = JSON.parse(readFileSync(join(root, 'scripts/published.json'), 'utf8'));
const check = process.argv.includes('--check');
const stale = pages().filter(({ file, text }) => {
  const fresh = rewritten(file, text);
  if (fresh === text) return false;
  if (!check) writeFileSync(join(root, file), fresh);
  return true;
});
for (const { file } of stale)
  console.log(`${file} ${check ? 'is out of date: npm run scripts' : 'was rewritten'}`);
if (check && stale.length > 0) process.exitCode = 1;

/** The Markdown files with such a section. */
function pages() {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  return ['README.md', ...inDocs.map((file) => `docs/${file}`)]
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    .filter(({ text }) => text.includes('<!-- generated: published'));
}

function rewritten(file, text) {
  let fresh = text;
  if (text.includes('<!-- generated: published ')) fresh = withSection(fresh, 'published', sentence(file));
  if (text.includes('<!-- generated: published-table '))
    fresh = withSection(fresh, 'published-table', `\n${table()}\n`);
  return fresh;
}

function isPublished(name) {
  return onNpm === 'all' || onNpm.includes(name);
}

function sentence(file) {
  const missing = packages.filter(({ name }) => !isPublished(name));
  if (missing.length === 0) return 'All packages are on npm.';
  const which = missing.length === packages.length ? 'The packages are' : 'Some packages are';
  const page = relative(dirname(join(root, file)), join(root, 'docs/installing.md'));
  return `${which} not on npm yet: [install them from this repository](${page}#from-this-repository).`;
}

function table() {
  const rows = packages
    .map(({ name, folder }) => {
      const { description } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return [`\`${name}\``, isPublished(name) ? 'yes' : 'not yet', description];
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return [['Package', 'On npm', 'What it is'], ['---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
