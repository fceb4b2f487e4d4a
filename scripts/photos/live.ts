import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Subject } from './album.js';

/** Sends requests of several visitors to the demo while `use` runs. Some visitors send more than others. */
export async function withTraffic(url: string, use: () => Promise<void>): Promise<void> {
  let running = true;
  const send = async () => {
    const visitor = Math.floor(Math.random() ** 2 * 8);
    const paths = ['/hello', `/limiter/count?key=user-${visitor}`, '/limiter/rate', '/limiter/rate2'];
    const path = paths[Math.floor(Math.random() ** 2 * paths.length)];
    if (Math.random() < 0.2) await fetch(`${url}/sms/count?phone=1380000000${visitor}`, { method: 'POST' });
    else await fetch(`${url}${path}`);
  };
  const traffic = async () => {
    while (running) {
      await send();
      await sleep(20 + Math.random() * 200);
    }
  };
  const used = use().finally(() => {
    running = false;
  });
  await Promise.all([used, traffic()]);
}

/** Shows a key on the live page. */
export async function showKey(page: Page, limiter: string, key: string): Promise<void> {
  await page.locator('#limiter option', { hasText: limiter }).first().waitFor({ state: 'attached' });
  await page.getByLabel('Limit', { exact: true }).selectOption(limiter);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.locator('#watched figcaption').first().waitFor();
}

/** Changes of a key, each of which has a dialog. */
const QUESTIONS = ['Reset', 'Override'] as const;

/** The demo and the live page, with their dialogs. */
export function liveSubjects(url: string): Subject[] {
  const live = async (page: Page) => {
    await page.goto(`${url}/limits/`);
    await page.getByText('Live.').waitFor();
    // The plots show what happens while the page is open.
    await sleep(4000);
  };
  const withKey = async (page: Page) => {
    await live(page);
    await showKey(page, 'hello', '127.0.0.1');
  };
  return [
    {
      name: 'live/demo',
      window: true,
      open: async (page) => {
        await page.goto(url);
        await page.frameLocator('iframe').getByText('Live.').waitFor();
        for (const path of ['/limiter/count', '/limiter/rate']) {
          await page.locator(`[data-path="${path}"]`).getByRole('button').nth(1).click();
        }
        await sleep(2000);
      },
    },
    { name: 'live/page', open: live },
    { name: 'live/key', open: withKey },
    ...QUESTIONS.map((name) => ({
      name: `live/dialog-${name.toLowerCase()}`,
      window: true,
      open: async (page: Page) => {
        await withKey(page);
        await page.getByRole('button', { name: `${name}…` }).click();
        await page.locator('dialog[open]').waitFor();
      },
    })),
  ];
}
