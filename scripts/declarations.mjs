// Writes the declarations once for both formats: the CommonJS form, which an ES module can import, and an entry file for ES modules.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Matches every path in a declaration to another one. */
const RELATIVE = /((?:from |import\()['"])(\.[^'"]+)(?=\.js['"])/g;

/**
 * @param declared folder of all declarations that tsc wrote
 * @param entries entry points, as in `bundle`. Only declarations that they reach are kept.
 * @param target its folders `esm` and `cjs` get the declarations
 */
export function writeDeclarations(declared, entries, target) {
  const kept = new Set();
  const keep = (path) => {
    if (kept.has(path)) return;
    kept.add(path);
    const text = readFileSync(join(declared, `${path}.d.ts`), 'utf8');
    write(join(target, 'cjs', `${path}.d.ts`), text);
    for (const [, , to] of text.matchAll(RELATIVE)) keep(posix.join(posix.dirname(path), to));
  };
  for (const entry of entries) {
    keep(entry);
    const text = readFileSync(join(declared, `${entry}.d.ts`), 'utf8');
    const folder = posix.dirname(entry);
    const inCjs = (to) => posix.relative(posix.join('esm', folder), posix.join('cjs', folder, to));
    write(
      join(target, 'esm', `${entry}.d.ts`),
      text.replace(RELATIVE, (_, before, to) => before + inCjs(to)),
    );
  }
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
