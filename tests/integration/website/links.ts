import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const htmlFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));

/** Links within a built site that lead to no page or heading. */
export function brokenLinks(folder: string): { readonly checked: number; readonly broken: string[] } {
  const pages = new Map(
    htmlFiles(folder).map((file) => {
      const html = readFileSync(join(folder, file), 'utf8');
      const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => decode(id!)));
      return [
        `/${file}`,
        { ids, links: [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, href]) => href!) },
      ];
    }),
  );
  const assets = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `/${file}`),
  );
  const broken: string[] = [];
  let checked = 0;
  for (const [from, { links }] of pages) {
    for (const href of links) {
      const { origin, pathname, hash } = new URL(decode(href), `http://site${from}`);
      if (origin !== 'http://site') continue;
      checked += 1;
      const path = decodeURI(pathname).replace(/\/$/, '/index.html');
      const page = pages.get(path) ?? pages.get(`${path}.html`);
      const id = decodeURIComponent(hash.slice(1));
      // The playground also has its state after #.
      const found = page === undefined ? assets.has(path) : id === '' || id.includes('=') || page.ids.has(id);
      if (!found) broken.push(`${from} → ${href}`);
    }
  }
  return { checked, broken };
}

const decode = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>');
