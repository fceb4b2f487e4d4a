// Turns the .lua files into the committed, typed *.script.ts: every algorithm's fragments set into decisions/decide.lua, and
// the scripts that stand alone.
//   node scripts/lua.mjs           writes them
//   node scripts/lua.mjs --check   fails when one is not what its .lua files say
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

/** A branch for each algorithm: only what a call asks for is set up. */
function branches(spends) {
  return files
    .filter((file) => file.includes('algorithms') && file.endsWith('spend.lua') === spends)
    .map((file) => {
      const lua = read(file);
      const tags = /^-- @tag (\w\w(?: \w\w)*)$/m.exec(lua)?.[1]?.split(' ');
      if (tags === undefined)
        throw new Error(`${file} must begin with -- @tag and the tags of its algorithms`);
      const kept = spends ? `${lua}rule.spend = spend` : lua;
      return `if ${tags.map((tag) => `tag == '${tag}'`).join(' or ')} then\n${kept}\nend`;
    })
    .join('\n');
}

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
let stale = 0;

const fragments = /algorithms|lanes\.lua$/;
for (const file of files.filter((name) => !fragments.test(name))) {
  const name = basename(file, '.lua');
  const lua = strip(
    read(file)
      .replace('-- @lanes', () => read(join(dirname(file), 'lanes.lua')))
      .replace('-- @algorithms', () => branches(false))
      .replace('-- @spends', () => branches(true)),
  );
  const sha1 = createHash('sha1').update(lua).digest('hex');
  const text = `// Generated from ${name}.lua${lua.includes('if tag ==') ? ' and algorithms/*/*.lua' : ''} by \`npm run scripts\`: change those, not this.
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
    console.error(`${relative(root, target)} is not what its .lua files say: run npm run scripts`);
    stale += 1;
  } else {
    writeFileSync(target, text);
    console.log(`wrote ${relative(root, target)}`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
