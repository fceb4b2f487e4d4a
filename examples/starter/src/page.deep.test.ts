import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, memoryStore } from '@sluice/core';
import { type Dashboard, dashboard } from '@sluice/dashboard';
import { closeSluice } from '@sluice/decorators';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../../../tests/support/browser.js';
import { createApp } from './app.js';
import { routes } from './routes.js';

let browser: Browser;
let server: Server;
let live: Dashboard;
let url: string;
/** Errors of the browser, apart from the expected denials. */
let complaints: string[];

beforeAll(async () => {
  browser = await startBrowser();
}, 120_000);
afterAll(() => browser?.close());

beforeEach(async () => {
  complaints = [];
  const store = memoryStore({ clock: new ManualClock() });
  live = dashboard(store, { authorize: () => true });
  server = createApp(store, live).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await live.close();
  server.closeAllConnections();
  await Promise.all([new Promise((resolve) => server.close(resolve)), closeSluice()]);
  expect(complaints).toEqual([]);
});

async function open(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('429')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) {
      complaints.push(`requested ${request.url()}`);
    }
  });
  await page.goto(url);
  await limits(page).getByText('Live.').waitFor();
  return page;
}

const card = (page: Page, path: string) => page.locator(`[data-path="${path}"]`);
/** The live page in the frame. */
const limits = (page: Page) => page.frameLocator('iframe');
const denied = (page: Page) => limits(page).locator('#denials tr');

test('the buttons send requests, and the denials appear on the live page', async () => {
  const page = await open();
  await card(page, '/limiter/count').getByRole('button', { name: 'Send 3' }).click();
  await card(page, '/limiter/count').getByText('200, 200, 429; passes again in').waitFor();
  await denied(page).getByText('LimiterController.count').waitFor();
  await denied(page).getByRole('button', { name: 'test' }).waitFor();
});

test('all limits are on the live page before the first request', async () => {
  const page = await open();
  await limits(page).locator('[data-limiter]').nth(5).waitFor();
  const names = await limits(page).locator('[data-limiter] h3').allTextContents();
  expect(names.sort()).toEqual([
    'LimiterController.rate2',
    'countLimit:LimiterController.count',
    'countLimit:SmsController.sendByCount',
    'hello',
    'rateLimit:LimiterController.rate',
    'rateLimit:SmsController.sendByRate',
  ]);
});

test('Flood shows denials of every limit on the live page', async () => {
  const page = await open();
  // Once: the limits deny all calls of a second flood.
  await page.getByRole('button', { name: 'Flood' }).click();
  await denied(page)
    .nth(routes.length - 1)
    .waitFor();
  expect(await denied(page).count()).toBe(routes.length);
  await card(page, '/hello').getByText('5 × 200, 15 × 429; passes again').waitFor();
});

test.each([
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])('the live page stays in sight beside the buttons in a window of %j', async (viewport) => {
  const page = await open({ viewport });
  for (const share of [0, 0.5, 1]) {
    await page.evaluate(`scrollTo(0, ${share} * document.documentElement.scrollHeight)`);
    const { y, height } = (await page.locator('iframe').boundingBox())!;
    const seen = Math.min(y + height, viewport.height) - Math.max(y, 0);
    expect([share, seen > 250]).toEqual([share, true]);
  }
  // The strip covers the last button only until the page is scrolled to its end.
  const last = (await page.locator('summary').last().boundingBox())!;
  const { y } = (await page.locator('.live').boundingBox())!;
  if (viewport.width < 960) expect(last.y + last.height).toBeLessThanOrEqual(y);
});

test('each burst ends with a denial', async () => {
  const page = await open();
  for (const { path, burst } of routes) {
    await card(page, path)
      .getByRole('button', { name: `Send ${burst}` })
      .click();
    await card(page, path).getByText('429; passes again in').waitFor();
  }
  await denied(page)
    .nth(routes.length - 1)
    .waitFor();
  expect(await denied(page).count()).toBe(routes.length);
});

test('denials of other clients appear, and a key is sent as typed', async () => {
  const page = await open();
  for (let i = 0; i < 3; i += 1) await fetch(`${url}/limiter/count?key=from+elsewhere`);
  await denied(page).getByText('from elsewhere').waitFor();
  await card(page, '/limiter/count').getByLabel('key').fill('a&b <b>');
  await card(page, '/limiter/count').getByRole('button', { name: 'Send 3' }).click();
  await denied(page).getByText('a&b <b>').waitFor();
});

test('all controls work by keyboard', async () => {
  const page = await open();
  await page.keyboard.press('Tab'); // the link
  await page.keyboard.press('Tab'); // Flood
  await page.keyboard.press('Tab'); // the key
  await page.keyboard.type('typed');
  await page.keyboard.press('Tab'); // Send 1
  await page.keyboard.press('Tab'); // Send 3
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  await page.keyboard.press('Enter');
  await denied(page).getByText('typed').waitFor();
  await page.keyboard.press('Tab'); // In a terminal
  await page.keyboard.press('Enter');
  await card(page, '/limiter/count').getByRole('button', { name: 'Copy' }).waitFor();
});

test('the page follows the colour scheme of the system', async () => {
  const papers = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await open({ colorScheme });
    papers.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
  }
  expect(papers).toEqual(['rgb(246, 248, 250)', 'rgb(16, 23, 29)']);
});

test.each([360, 800, 1400])('nothing is cut off at a width of %d', async (width) => {
  const page = await open({ viewport: { width, height: 800 } });
  await card(page, '/limiter/count').getByRole('button', { name: 'Send 3' }).click();
  await denied(page).first().waitFor();
  for (const frame of page.frames()) {
    const overflow = await frame.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
  }
});
