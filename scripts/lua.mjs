// Turns the .lua files into the committed, typed *.script.ts: engine/decide.lua with all files that it includes, and the separate scripts.
//   node scripts/lua.mjs           writes them
//   node scripts/lua.mjs --check   fails if one does not match its .lua files
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'packages/core/src');
const check = process.argv.includes('--check');
const read = (file) => readFileSync(file, 'utf8');

/** Comments (always on lines of their own) and indentation are for readers of the .lua file; Redis gets neither. */
const strip = (lua) =>
  lua
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
    .join('\n');

const files = readdirSync(source, { recursive: true })
  .filter((file) => file.endsWith('.lua'))
  .sort()
  .map((file) => join(source, file));

/** A branch for each algorithm, from its `take-run.lua` or from its other file. */
function branches(isRun, of) {
  return files
    .filter((file) => file.includes('algorithms') && file.endsWith('take-run.lua') === isRun)
    .map((file) => {
      const lua = read(file);
      const tags = /^-- @tag (\w\w(?: \w\w)*)$/m.exec(lua)?.[1]?.split(' ');
      if (tags === undefined)
        throw new Error(`${file} must begin with -- @tag and the tags of its algorithms`);
      return `if ${tags.map((tag) => `tag == '${tag}'`).join(' or ')} then\n${of(lua)}\nend`;
    })
    .join('\n');
}

/** The codes of answers, which TypeScript declares. */
const replyCodes = () =>
  read(join(source, 'engine/reply-codes.ts'))
    .match(/^export const .*;$/gm)
    .map((line) => line.replace(/^export const (\w+) = (-\d+);$/, 'local $1 = $2'))
    .join('\n');

/** A script with everything that it includes: other files of its folder, and a branch for each algorithm. */
function assembled(file) {
  const beside = (name) => read(join(dirname(file), name));
  return read(file)
    .replace('-- @reply-codes', replyCodes)
    .replace(/-- @include (\S+)/g, (_, name) => beside(name))
    .replace('-- @algorithms', () => branches(false, (lua) => lua))
    .replace('-- @take-runs', () =>
      branches(true, (lua) => beside('take-run.lua').replace('-- @take-run', () => lua)),
    );
}

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
let stale = 0;

/** The scripts. All other files are included in one of them. */
const scripts = files.filter((file) =>
  /\/(decide|shared-rate|board|shared-text|look|claim)\.lua$/.test(file),
);
for (const file of scripts) {
  const name = basename(file, '.lua');
  const lua = strip(assembled(file));
  const sha1 = createHash('sha1').update(lua).digest('hex');
  const text = `// Generated from ${name}.lua${lua.includes('if tag ==') ? ', what it includes, and algorithms/*/*.lua' : ''} by \`npm run scripts\`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const ${camel(name)}Script: Script = {
  name: '${name}',
  sha1: '${sha1}',
  source: \`${lua.replace(/[\\`$]/g, '\\$&')}\`,
};
`;
  const target = join(dirname(file), `${name}.script.ts`);
  if (existsSync(target) && read(target) === text) continue;
  if (check) {
    console.error(`${relative(root, target)} does not match its .lua files: run npm run scripts`);
    stale += 1;
  } else {
    writeFileSync(target, text);
    console.log(`wrote ${relative(root, target)}`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
