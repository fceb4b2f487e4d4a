import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, memoryStore } from '@sluice/core';
import { closeSluice } from '@sluice/decorators';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../../../tests/support/browser.js';
import { createApp } from './app.js';
import { routes } from './routes.js';

let browser: Browser;
let server: Server;
let url: string;
/** Errors of the browser, apart from the expected denials. */
let complaints: string[];

beforeAll(async () => {
  browser = await startBrowser();
}, 120_000);
afterAll(() => browser?.close());

beforeEach(async () => {
  complaints = [];
  server = createApp(memoryStore({ clock: new ManualClock() })).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
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
      complaints.push(`asked for ${request.url()}`);
    }
  });
  await page.goto(url);
  await page.getByText('Live.').waitFor();
  return page;
}

const card = (page: Page, path: string) => page.locator(`[data-path="${path}"]`);
const decisions = (page: Page) => page.locator('#decisions tr');

test('the buttons send requests, and the decisions appear', async () => {
  const page = await open();
  await card(page, '/limiter/count').getByRole('button', { name: 'Send 3' }).click();
  await card(page, '/limiter/count').getByText('200, 200, 429; passes again in').waitFor();
  await page.getByText('2 allowed, 1 denied').waitFor();
  expect(await decisions(page).count()).toBe(3);
  expect(await decisions(page).first().textContent()).toContain('429 denied, again in 10 s');
});

test('each burst ends with a denial', async () => {
  const page = await open();
  for (const { path, burst } of routes) {
    await card(page, path)
      .getByRole('button', { name: `Send ${burst}` })
      .click();
    await card(page, path).getByText('429; passes again in').waitFor();
  }
  await page.getByText(`${routes.length} denied`).waitFor();
});

test('decisions for other clients appear, and a key is sent as typed', async () => {
  const page = await open();
  await fetch(`${url}/limiter/count?key=from+elsewhere`);
  await page.locator('#decisions').getByText('GET /limiter/count?key=from+elsewhere').waitFor();
  await card(page, '/limiter/count').getByLabel('key').fill('a&b <b>');
  await card(page, '/limiter/count').getByRole('button', { name: 'Send 1' }).click();
  await page.locator('#decisions').getByText('GET /limiter/count?key=a%26b+%3Cb%3E').waitFor();
});

test('everything works by keyboard', async () => {
  const page = await open();
  await page.keyboard.press('Tab'); // the key
  await page.keyboard.type('typed');
  await page.keyboard.press('Tab'); // Send 1
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  await page.keyboard.press('Enter');
  await page.locator('#decisions').getByText('GET /limiter/count?key=typed').waitFor();
  await page.keyboard.press('Tab'); // Send 3
  await page.keyboard.press('Tab'); // In a terminal
  await page.keyboard.press('Enter');
  await card(page, '/limiter/count').getByRole('button', { name: 'Copy' }).waitFor();
});

test('a decision appears once, even after the connection was lost', async () => {
  const page = await open();
  await fetch(`${url}/hello`);
  await page.getByText('1 allowed').waitFor();
  server.closeAllConnections();
  await page.getByText('trying again').waitFor();
  await page.getByText('Live.').waitFor();
  await fetch(`${url}/hello`);
  await page.getByText('2 allowed').waitFor();
  expect(await decisions(page).count()).toBe(2);
  expect(complaints.splice(0)).toEqual([expect.stringContaining('ERR_INCOMPLETE_CHUNKED_ENCODING')]);
});

test('it follows the colours of the system', async () => {
  const papers = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await open({ colorScheme });
    papers.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
  }
  expect(papers).toEqual(['rgb(246, 248, 250)', 'rgb(16, 23, 29)']);
});

test.each([360, 800, 1400])('at a width of %d nothing is cut off', async (width) => {
  const page = await open({ viewport: { width, height: 800 } });
  await card(page, '/limiter/count').getByRole('button', { name: 'Send 3' }).click();
  await page.getByText('1 denied').waitFor();
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
});
