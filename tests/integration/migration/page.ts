import { join } from 'node:path';
import * as core from '@sluice/core';
import { redisUrl } from '../../support/redis-url.js';
import { type Block, blocksOf, evaluateBlock } from '../docs/markdown.js';

/** The library of a program: the one that users come from, or ours. */
export type Side = 'Before' | 'With Sluice';
export const SIDES: readonly Side[] = ['Before', 'With Sluice'];

/** The packages of `load`, with a deadline of 10 s for `redisStore`, because a busy machine may answer after 100 ms. */
function withLongDeadline(load: NodeJS.Require): NodeJS.Require {
  const redisStore = (...options: Parameters<typeof core.redisStore>) =>
    Object.defineProperty(core.redisStore(...options), 'usualDeadline', { value: 10_000 });
  const packages: Record<string, object> = { '@sluice/core': { ...core, redisStore } };
  return ((name: string) => packages[name] ?? load(name)) as NodeJS.Require;
}

const FOLDER = join(__dirname, '../../../docs/migration');

/**
 * A code block of a migration page. Blocks that are one program begin with the same comment, `// Before` or `// With Sluice`, and
 * a title where a page has several: `// Before: in Redis`.
 * @throws Error if the page has not exactly one such block
 */
export function blockOf(page: string, side: Side, title?: string): Block {
  const first = title === undefined ? `// ${side}` : `// ${side}: ${title}`;
  const found = blocksOf(join(FOLDER, `${page}.md`)).filter(({ source }) => source.split('\n')[0] === first);
  if (found.length !== 1) throw new Error(`${page}.md has ${found.length} blocks that begin with ${first}`);
  return found[0]!;
}

/**
 * Runs a code block of a page as it is, but its calls wait longer for Redis.
 * @param load the caller's `require`
 * @param replace texts of the page, such as a name that is not unique, with replacements
 * @returns the constants of these names
 */
export async function evaluate<T>(
  page: string,
  side: Side,
  load: NodeJS.Require,
  names: readonly (keyof T & string)[],
  title?: string,
  replace: Readonly<Record<string, string>> = {},
): Promise<T> {
  const all = { 'redis://127.0.0.1:6379': redisUrl(), ...replace };
  return (await evaluateBlock(blockOf(page, side, title), withLongDeadline(load), all, names)).values as T;
}
