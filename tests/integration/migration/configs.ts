import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Side } from './page.js';

/** A block of a migration page that is no program: its first line is `side`, as `# Before: Envoy`. @throws Error without exactly one */
export function configOf(page: string, side: `${Side}${'' | `: ${string}`}`): string {
  const text = readFileSync(join(__dirname, '../../../docs/migration', `${page}.md`), 'utf8');
  const blocks = [...text.matchAll(/^```(?:yaml|nginx)\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  const found = blocks.filter((block) => block.split('\n')[0] === `# ${side}`);
  if (found.length !== 1) throw new Error(`${page}.md has ${found.length} blocks that begin with # ${side}`);
  return found[0]!;
}
