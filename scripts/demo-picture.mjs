// node scripts/demo-picture.mjs: draws docs/pictures/demo.png, the page of `npm start` after some requests, and docs/pictures/live-page*.png.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import bundled from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import { root } from './packages.mjs';

/** How long requests are sent before a picture, ms. */
const TRAFFIC = 45_000;

const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const demo = spawn(process.execPath, [join(root, 'scripts/start.mjs'), 'starter'], {
  env: { ...process.env, PORT: `${port}` },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await once(demo.stdout, 'data');
  const args = bundled.args.filter(
    (arg) => !/^--(?:single-process|no-zygote|disable-web-security)$/.test(arg),
  );
  const browser = await chromium.launch({ executablePath: await bundled.executablePath(), args });
  await draw(browser).finally(() => browser.close());
} finally {
  demo.kill();
}

async function draw(browser) {
  const live = await browser.newPage({ viewport: { width: 1200, height: 1000 } });
  await live.goto(`${url}/limits/`);
  await live.getByText('Live.').waitFor();
  for (const end = Date.now() + TRAFFIC; Date.now() < end; ) {
    await request();
    await sleep(20 + Math.random() * 200);
  }
  await show(live, 'hello', '127.0.0.1');
  for (let i = 0; i < 3; i += 1) await fetch(`${url}/hello`);
  await sleep(1_500);
  await live.screenshot({ path: picture('live-page') });

  const phone = await browser.newPage({ viewport: { width: 360, height: 760 }, colorScheme: 'dark' });
  await phone.goto(`${url}/limits/`);
  await show(phone, 'countLimit:LimiterController.count', 'user-0');
  await phone.locator('#key-heading').scrollIntoViewIfNeeded();
  await sleep(1_000);
  await phone.screenshot({ path: picture('live-page-phone') });

  const page = await browser.newPage({ viewport: { width: 1400, height: 860 } });
  await page.goto(url);
  await page.frameLocator('iframe').getByText('Live.').waitFor();
  for (const path of ['/limiter/count', '/limiter/rate']) {
    await page.locator(`[data-path="${path}"]`).getByRole('button').nth(1).click();
  }
  await sleep(3_000);
  await page.screenshot({ path: picture('demo') });
}

/** One of many visitors; a few of them send more than the others. */
async function request() {
  const visitor = Math.floor(Math.random() ** 2 * 8);
  const paths = ['/hello', `/limiter/count?key=user-${visitor}`, '/limiter/rate', '/limiter/rate2'];
  if (Math.random() < 0.2) await fetch(`${url}/sms/count?phone=1380000000${visitor}`, { method: 'POST' });
  else await fetch(url + paths[Math.floor(Math.random() ** 2 * paths.length)]);
}

async function show(page, limiter, key) {
  await page.locator('#limiter option', { hasText: limiter }).first().waitFor({ state: 'attached' });
  await page.getByLabel('Limit', { exact: true }).selectOption(limiter);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.locator('#watched figcaption').first().waitFor();
}

function picture(name) {
  return join(root, `docs/pictures/${name}.png`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
