import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const README = fileURLToPath(new URL('../README.md', import.meta.url));
const PICTURES = fileURLToPath(new URL('../pictures/', import.meta.url));

/** Puts text between `<!-- name -->` and `<!-- /name -->` of bench/README.md. */
export function writeSection(name, text) {
  const page = readFileSync(README, 'utf8');
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`bench/README.md needs <!-- ${name} --> and <!-- /${name} -->`);
  writeFileSync(README, `${page.slice(0, from + start.length)}\n\n${text}\n\n${page.slice(to)}`);
}

export function writePicture(name, svg) {
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(`${PICTURES}${name}`, svg);
}
