import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { showKey, withTraffic } from './live.js';

/** How long requests are sent before a picture, ms: the plots are filled. */
const TRAFFIC = 45_000;

/** Draws the pictures that the pages show: the demo, and the live page on a screen and on a phone. */
export async function drawPictures(browser: Browser, root: string, url: string): Promise<void> {
  const picture = (name: string) => ({ path: join(root, `docs/pictures/${name}.png`) });

  const live = await browser.newPage({ viewport: { width: 1200, height: 1000 } });
  await live.goto(`${url}/limits/`);
  await live.getByText('Live.').waitFor();
  await withTraffic(url, () => sleep(TRAFFIC));
  await showKey(live, 'hello', '127.0.0.1');
  for (let i = 0; i < 3; i += 1) await fetch(`${url}/hello`);
  await sleep(1500);
  await live.screenshot(picture('live-page'));

  const phone = await browser.newPage({ viewport: { width: 360, height: 760 }, colorScheme: 'dark' });
  await phone.goto(`${url}/limits/`);
  await showKey(phone, 'countLimit:LimiterController.count', 'user-0');
  await phone.locator('#key-heading').scrollIntoViewIfNeeded();
  await sleep(1000);
  await phone.screenshot(picture('live-page-phone'));

  const demo = await browser.newPage({ viewport: { width: 1400, height: 860 } });
  await demo.goto(url);
  await demo.frameLocator('iframe').getByText('Live.').waitFor();
  for (const path of ['/limiter/count', '/limiter/rate']) {
    await demo.locator(`[data-path="${path}"]`).getByRole('button').nth(1).click();
  }
  await sleep(3000);
  await demo.screenshot(picture('demo'));
}
