import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { repository } from './links';
import { root } from './pages';

/** The packages have one version. */
const { version, license }: { version: string; license: string } = JSON.parse(
  readFileSync(join(root, 'packages/core/package.json'), 'utf8'),
);

/** The foot of every page: version, licence, changelog. */
export const footer = (words: {
  readonly license: string;
  readonly changelog: string;
  readonly security: string;
}): DefaultTheme.Footer => ({
  message: [
    `Sluice ${version}`,
    `<a href="${repository}/blob/main/LICENSE">${words.license.replace('%', license)}</a>`,
    `<a href="/changelog.html">${words.changelog}</a>`,
    `<a href="/reporting-a-vulnerability.html">${words.security}</a>`,
  ].join(' · '),
});
