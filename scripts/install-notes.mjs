// Writes into the pages which packages are on npm, by `published.json`: `onNpm` is "all", or a list of names.
//   node scripts/install-notes.mjs           rewrites the sections <!-- generated: published … --> and <!-- generated: published-table … -->
//   node scripts/install-notes.mjs --check   fails if one is out of date
// In docs/zh the sentence and the state are in Chinese, and the descriptions of packages stay as they were translated.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { packages, root } from './packages.mjs';

const require = createRequire(import.meta.url);
require('esbuild-register/dist/node').register();
const { section, withSection } = require('./sections.ts');

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
    fresh = withSection(
      fresh,
      'published-table',
      `\n${table(wordsFor(file), section(fresh, 'published-table'))}\n`,
    );
  return fresh;
}

function isPublished(name) {
  return onNpm === 'all' || onNpm.includes(name);
}

function sentence(file) {
  const missing = packages.filter(({ name }) => !isPublished(name));
  const words = wordsFor(file);
  if (missing.length === 0) return words.all;
  const page = relative(dirname(join(root, file)), join(root, words.page));
  return (missing.length === packages.length ? words.none : words.some).replace('PAGE', page);
}

/** @param before the table so far, whose descriptions a translation keeps */
function table(words, before) {
  const rows = packages
    .map(({ name, folder, needs }) => {
      const { description } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const [, translated] =
        before.match(new RegExp(`^\\| \`${name}\` \\|[^|]+\\|[^|]+\\| (.*) \\|$`, 'm')) ?? [];
      const text = (words.translated && translated) || description;
      const ours = allNeeds(needs).map((needed) => `\`${needed.replace('@sluice/', '')}\``);
      return [`\`${name}\``, isPublished(name) ? words.yes : words.no, ours.join(' ') || '–', text];
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return [words.head, words.head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** Our own packages among these, and what they need, by name. */
function allNeeds(names) {
  const found = packages.filter(({ name }) => names.includes(name));
  return [...new Set(found.flatMap(({ name, needs }) => [name, ...allNeeds(needs)]))].sort();
}

function wordsFor(file) {
  if (file.startsWith('docs/zh/'))
    return {
      page: 'docs/zh/installing.md',
      all: '所有包都已发布到 npm。',
      none: '这些包尚未发布到 npm：[从本仓库安装](PAGE#从本仓库安装)。',
      some: '部分包尚未发布到 npm：[从本仓库安装](PAGE#从本仓库安装)。',
      head: ['包', '在 npm 上', '还需要', '说明'],
      yes: '是',
      no: '尚未',
      translated: true,
    };
  const how = 'not on npm yet: [install them from this repository](PAGE#from-this-repository).';
  return {
    page: 'docs/installing.md',
    all: 'All packages are on npm.',
    none: `The packages are ${how}`,
    some: `Some packages are ${how}`,
    head: ['Package', 'On npm', 'Also needs', 'What it is'],
    yes: 'yes',
    no: 'not yet',
    translated: false,
  };
}
