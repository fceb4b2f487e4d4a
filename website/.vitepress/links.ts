import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { pathOf, root } from './pages';

/** Where the repository can be read: package.json's `repository`. */
export const repository: string = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
).repository.url.replace(/^git\+|\.git$/g, '');

/** The READMEs of packages link to the repository by absolute addresses, because npm shows them without it. */
const BLOBS = `${repository}/blob/main/`;

/**
 * Links in the Markdown files lead to other files of the repository, so that they work on GitHub. In the site, a link to a page leads to
 * that page, and a link to any other file to the repository.
 */
export function repositoryLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const from: string | undefined = env.realPath ?? env.path;
    if (from === undefined) return; // a heading by itself
    for (const { type, attrs } of tokens.flatMap(({ children }) => children ?? [])) {
      const href = type === 'link_open' && attrs?.find(([name]) => name === 'href');
      if (href) href[1] = target(from, href[1]);
    }
  });
}

/** @throws Error when the file that the link names does not exist */
function target(from: string, href: string): string {
  const here = href.startsWith(BLOBS);
  if (!here && /^([a-z]+:|#|\/)/.test(href)) return href;
  const [, path, hash] = /^([^#]*)(#.*)?$/.exec(here ? href.slice(BLOBS.length) : href)!;
  const file = resolve(here ? root : dirname(from), decodeURI(path!));
  const name = relative(root, file);
  if (!existsSync(file)) throw new Error(`${relative(root, from)}: the link ${href} leads to no file`);
  const page = pathOf(name);
  if (page !== undefined) return `/${page}.md${hash ?? ''}`;
  const kind = statSync(file).isDirectory() ? 'tree' : 'blob';
  return `${repository}/${kind}/main/${name}${hash ?? ''}`;
}
