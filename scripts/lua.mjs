// Turns each algorithm's .lua file, set into frame.lua, into the committed, typed *.script.ts beside it.
//   node scripts/lua.mjs           writes them
//   node scripts/lua.mjs --check   fails when one is not what its .lua files say
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'packages/core/src/algorithms');
const check = process.argv.includes('--check');
const frame = readFileSync(join(folder, 'frame.lua'), 'utf8');

/** Comments (always on lines of their own) and indentation are for readers of the .lua file; Redis gets neither. */
const strip = (lua) =>
  lua
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
    .join('\n');

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
let stale = 0;

for (const name of readdirSync(folder)) {
  const file = join(folder, name, `${name}.lua`);
  if (!existsSync(file)) continue;
  const source = strip(frame.replace('-- @step', () => readFileSync(file, 'utf8')));
  const sha1 = createHash('sha1').update(source).digest('hex');
  const text = `// Generated from ${name}.lua and frame.lua by \`npm run scripts\`: change those, not this.
import type { Script } from '../algorithm.js';

export const ${camel(name)}Script: Script = {
  name: '${name}',
  sha1: '${sha1}',
  source: \`${source.replace(/[\\`$]/g, '\\$&')}\`,
};
`;
  const target = join(folder, name, `${name}.script.ts`);
  if (existsSync(target) && readFileSync(target, 'utf8') === text) continue;
  if (check) {
    console.error(`${relative(root, target)} is not what its .lua files say: run npm run scripts`);
    stale += 1;
  } else {
    writeFileSync(target, text);
    console.log(`wrote ${relative(root, target)}`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
