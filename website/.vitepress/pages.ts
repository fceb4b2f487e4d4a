import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Which files of the repository are pages, and their paths in the site. The first rule that matches counts. */
const rules: readonly (readonly [file: RegExp, path: string])[] = [
  [/^docs\/(.+)\.md$/, '$1'],
  [/^packages\/core\/src\/algorithms\/([^/]+)\/README\.md$/, 'algorithms/$1'],
  [/^packages\/([^/]+)\/README\.md$/, 'frameworks/$1'],
  [/^CHANGELOG\.md$/, 'changelog'],
  [/^SECURITY\.md$/, 'reporting-a-vulnerability'],
  [/^bench\/README\.md$/, 'benchmarks'],
  [/^examples\/README\.md$/, 'examples'],
  [/^examples\/([^/]+)\/README\.md$/, 'examples/$1'],
  // Written by TypeDoc.
  [/^website\/reference\/(.+)\.md$/, 'reference/$1'],
];

/** Folders and files without pages, so that VitePress does not read them. */
export const EXCLUDED = [
  '!(CHANGELOG|SECURITY).md',
  '.*/**',
  '{coverage,scripts,tests}/**',
  'bench/!(README.md)',
  'bench/*/**',
  'examples/*/!(README.md)',
  'examples/*/*/**',
  'website/*.md',
  'packages/*/!(README).md',
  'packages/!(core)/{dist,node_modules,src}/**',
  'packages/core/{dist,node_modules}/**',
  'packages/core/src/!(algorithms)/**',
];

/** The path of a page in the site without its extension; undefined for a file that is no page. */
export function pathOf(file: string): string | undefined {
  const rule = rules.find(([pattern]) => pattern.test(file));
  return rule && file.replace(...rule);
}

export interface Page {
  /** In the site, without a leading slash and extension. */
  readonly path: string;
  /** The front matter's `title`, else the first heading. */
  readonly title: string;
  /** The front matter's `order`. Pages without one come last. */
  readonly order: number;
  /** The front matter's `section`: where a page directly in docs/ is listed. */
  readonly section: string | undefined;
}

/** The pages in a folder of the repository, in the order of the sidebar. A folder that does not exist has none. */
export function pagesIn(folder: string, { deep = false } = {}): Page[] {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { encoding: 'utf8', recursive: deep })
    .map((name) => `${folder}/${name}`)
    .filter((file) => pathOf(file) !== undefined)
    .map(pageOf)
    .sort((a, b) => a.order - b.order || a.path.localeCompare(b.path));
}

/** The page of one file. @throws Error if it has no title */
export function pageOf(file: string): Page {
  const text = readFileSync(join(root, file), 'utf8');
  const [, matter = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  const field = (name: string) => new RegExp(`^${name}: *['"]?(.*?)['"]? *$`, 'm').exec(matter)?.[1];
  const [, heading] = /^# (.+)$/m.exec(text) ?? [];
  const title = field('title') ?? heading?.replaceAll('`', '');
  if (title === undefined) throw new Error(`${file} has no title: begin it with a line "# Title"`);
  const order = Number(field('order') ?? Number.POSITIVE_INFINITY);
  if (Number.isNaN(order)) throw new Error(`${file}: order must be a number, not ${field('order')}`);
  return { path: pathOf(file)!, title, order, section: field('section') };
}
