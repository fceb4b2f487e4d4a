import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { serve } from '../../tests/integration/website/built-site.js';
import type { Subject } from './album.js';

/** Decisions have one form, and there are dozens of them. */
const LEFT_OUT = /^decisions\/(?!001)/;

/** Serves the built site while `use` runs. @throws Error if it is not built */
export async function withSite(root: string, use: (url: string) => Promise<void>): Promise<void> {
  const dist = join(root, 'website/dist');
  if (!existsSync(dist)) throw new Error('Build the site first: npm run docs');
  const { url, server } = await serve(dist);
  try {
    await use(url);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Every page of the site, and what opens on them. */
export function siteSubjects(root: string, url: string): Subject[] {
  const pages = readdirSync(join(root, 'website/dist'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html') && !LEFT_OUT.test(file))
    .sort();
  const go = async (page: Page, path: string) => {
    await page.goto(`${url}/${path}`);
    await page.locator('.Layout').waitFor();
    await page.evaluate('document.fonts.ready.then(() => undefined)');
  };
  return [
    ...pages.map((file) => ({
      name: `site/${file.replace(/\.html$/, '')}`,
      open: async (page: Page) => {
        await go(page, file);
        if (/^(?:zh\/)?index/.test(file)) await page.locator('.running-limit circle').first().waitFor();
        if (/^(?:playground|algorithms\/)/.test(file)) await page.locator('.playground .counts').waitFor();
      },
    })),
    ...['dialog-search', 'dialog-search-empty'].map((name) => ({
      name: `site/${name}`,
      window: true,
      open: async (page: Page) => {
        await go(page, 'getting-started.html');
        await page.locator('#local-search button').first().click();
        const words = name === 'dialog-search' ? 'cloudflare' : 'qqqqq';
        await page.locator('#localsearch-input').fill(words);
        await page.locator('.VPLocalSearchBox :is(.result, .no-results)').first().waitFor();
      },
    })),
    {
      name: 'site/dialog-playground-comparison',
      open: async (page) => {
        await go(page, 'playground.html');
        await page.getByRole('button', { name: 'Compare two policies' }).click();
        await page.locator('.playground .counts').nth(1).waitFor();
      },
    },
    {
      name: 'site/dialog-playground-error',
      open: async (page) => {
        await go(page, 'playground.html#a=tokenBucket&a.capacity=many');
        await page.getByRole('alert').waitFor();
      },
    },
    {
      name: 'site/dialog-languages',
      widths: [1280],
      window: true,
      open: async (page) => {
        await go(page, 'getting-started.html');
        await page.locator('.VPNavBarTranslations button').hover();
      },
    },
    {
      name: 'site/dialog-menu',
      widths: [390],
      window: true,
      open: async (page) => {
        await go(page, 'index.html');
        await page.locator('.VPNavBarHamburger').click();
        await page.locator('.VPNavScreen').waitFor();
      },
    },
    {
      name: 'site/dialog-sidebar',
      widths: [390],
      window: true,
      open: async (page) => {
        await go(page, 'getting-started.html');
        await page.locator('.VPLocalNav .menu').click();
        await page.locator('.VPSidebar.open').waitFor();
      },
    },
  ];
}
