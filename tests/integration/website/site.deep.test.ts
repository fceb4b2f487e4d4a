import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join, resolve } from 'node:path';
import * as core from '@sluice/core';
import { ManualClock, memoryStore, type Policy, RateLimiter, slidingLog, tokenBucket } from '@sluice/core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../../support/browser.js';
import { buildSite, removeSite, serve } from './built-site.js';
import { brokenLinks, htmlFiles } from './links.js';
import { looks } from './look.suite.js';
import { searchOf } from './search.js';

const root = resolve(__dirname, '../../..');

let folder: string;
let server: Server;
let url: string;
let browser: Browser;
let complaints: string[];

beforeAll(async () => {
  folder = await buildSite();
  ({ server, url } = await serve(folder));
  browser = await startBrowser();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  server?.close();
  if (folder) await removeSite(folder);
});

beforeEach(() => {
  complaints = [];
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  expect(complaints).toEqual([]);
});

/** A page on which any error, and any call to another host, fails the test. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    ...options,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(String(error.stack)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !/^(data|blob):/.test(request.url())) {
      complaints.push(`requested ${request.url()}`);
    }
  });
  await page.goto(url + path);
  return page;
}

const runs = (page: Page) => page.locator('.playground .run');
const field = (page: Page, name: string) => page.locator('.playground').getByLabel(name, { exact: true });

/** The table below the drawing of a run: [at, outcome, remaining, retry after], times in ms. */
async function requestsOf(page: Page, index = 0): Promise<unknown[][]> {
  await runs(page).nth(index).locator('summary').click();
  return runs(page)
    .nth(index)
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => {
        const [at, outcome, , remaining, retryAfter] = [...row.children].map((cell) => cell.textContent);
        return [Number.parseInt(at!, 10), outcome, remaining, retryAfter];
      }),
    );
}

/** The decisions of core, in the form of the table. */
async function direct(policy: Policy, moments: readonly number[]): Promise<unknown[][]> {
  const clock = new ManualClock();
  const start = clock.now();
  const limiter = new RateLimiter({ name: 'direct', policy, store: memoryStore({ clock }) });
  const rows: unknown[][] = [];
  for (const at of moments) {
    clock.set(start + at * 1000);
    const { allowed, remaining, retryAfter } = await limiter.consume('visitor');
    rows.push(allowed ? [at, 'passed', `${remaining}`, ''] : [at, 'denied', '', `${retryAfter} ms`]);
  }
  await limiter.close();
  return rows;
}

/** Five bursts of eight, 6 s apart; in each the requests are 20 ms apart. */
const bursts = Array.from({ length: 40 }, (_, i) => Math.floor(i / 8) * 6000 + (i % 8) * 20);

test('every link of the site leads to an existing page and heading', () => {
  const { checked, broken } = brokenLinks(folder);
  expect(broken).toEqual([]);
  expect(checked).toBeGreaterThan(1000);
});

test('the site and its sidebar have every page of docs/', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !/(^|\/)index\.md$|^decisions\//.test(file))
    .map((file) => file.replace(/\.md$/, '.html'));
  const missing = pages.filter((file) => {
    const html = readFileSync(join(folder, file), 'utf8');
    return !html.includes(`class="VPLink link link" href="/${file}"`);
  });
  expect(missing).toEqual([]);
  expect(pages.length).toBeGreaterThan(30);
});

test.each([
  'changelog',
  'reporting-a-vulnerability',
  'benchmarks',
  'examples',
  'examples/express-basic',
  'comparison',
])('the site has the page %s', (page) => {
  expect(readFileSync(join(folder, `${page}.html`), 'utf8')).toMatch(/<h1 /);
});

test('the sidebar has the pages outside of docs/, and no decisions', () => {
  const html = readFileSync(join(folder, 'getting-started.html'), 'utf8');
  for (const page of ['changelog', 'reporting-a-vulnerability', 'benchmarks', 'examples', 'comparison']) {
    expect(html).toContain(`class="VPLink link link" href="/${page}.html"`);
  }
  expect(html).not.toContain('href="/decisions/');
});

test('a command that installs our packages says that they are not on npm, until they are', () => {
  const { onNpm } = JSON.parse(readFileSync(join(root, 'scripts/published.json'), 'utf8'));
  const note = 'Not on npm yet';
  const pageOf = (name: string) => readFileSync(join(folder, `${name}.html`), 'utf8');
  expect([pageOf('frameworks/koa').includes(note), pageOf('installing').includes(note)]).toEqual([
    onNpm !== 'all',
    false,
  ]);
});

test('a page that the sidebar does not have leads to no next page', () => {
  const footer = 'class="prev-next"';
  const pages = ['frameworks/sqlite', 'examples/express-basic', 'decisions/001-one-road', 'getting-started'];
  const leads = pages.filter((page) => readFileSync(join(folder, `${page}.html`), 'utf8').includes(footer));
  expect(leads).toEqual(['getting-started']);
});

test('the items of a checklist have a box', () => {
  for (const page of ['production', 'zh/production']) {
    const html = readFileSync(join(folder, `${page}.html`), 'utf8');
    expect(html.match(/<li class="task"><span class="box"/g)).toHaveLength(18);
    expect(html).not.toContain('[ ]');
  }
});

test('a Chinese sentence has no space where a line of its source ends', () => {
  const spaces = htmlFiles(join(folder, 'zh')).flatMap((file) => {
    const html = readFileSync(join(folder, 'zh', file), 'utf8');
    const text = html.replace(/<(pre|script|style)\b[\s\S]*?<\/\1>/g, '').replace(/<[^>]+>/g, '');
    const found = text.match(/[\p{Script=Han}，。、；：？！（）]\n[\p{Script=Han}，。、；：（]/gu) ?? [];
    return found.map((one) => `${file}: ${JSON.stringify(one)}`);
  });
  expect(spaces).toEqual([]);
  expect(readFileSync(join(folder, 'zh/headers.html'), 'utf8')).toContain('有效期至 2026-11-24；2026 年');
});

test('the playground of the Chinese pages is in Chinese', async () => {
  const page = await open('/zh/playground.html');
  await page.locator('.playground .counts').filter({ hasText: '● 34 通过✕ 6 被拒绝○ 0 等待中' }).waitFor();
  expect(await page.locator('.playground .controls button').allTextContents()).toEqual([
    '播放',
    '发送一个请求',
    '比较两个策略',
    '复制链接',
  ]);
  expect(await page.locator('.playground legend').allTextContents()).toEqual(['策略', '流量']);
});

test('search finds words of a symptom, and every code of an error or a warning', async () => {
  const codes = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8').match(/\bSLUICE_\w+/g)!;
  const page = await open('/');
  const input = await searchOf(page);
  const wanted = {
    cloudflare: /proxies-by-name/,
    troubleshooting: /troubleshooting/,
    vulnerability: /reporting-a-vulnerability/,
    bullmq: /bullmq/,
    ...Object.fromEntries(codes.map((code) => [code, /troubleshooting|warnings/])),
  };
  const missing: string[] = [];
  for (const [words, found] of Object.entries(wanted)) {
    await input.fill(words);
    const result = page.locator('.VPLocalSearchBox .result');
    const deadline = Date.now() + 10_000;
    let hrefs: string[] = [];
    while (!hrefs.some((href) => found.test(href)) && Date.now() < deadline) {
      await page.waitForTimeout(50);
      hrefs = await result.evaluateAll((all) => all.slice(0, 5).map((one) => one.getAttribute('href') ?? ''));
    }
    if (!hrefs.some((href) => found.test(href))) missing.push(`${words}: ${hrefs}`);
  }
  expect(missing).toEqual([]);
  expect(Object.keys(wanted).length).toBeGreaterThan(35);
});

test('the reference has every class and function of core, by what they are for', () => {
  const index = readFileSync(join(folder, 'reference/core/index.html'), 'utf8');
  const exported = Object.keys(core).filter((name) => name !== 'default');
  expect(exported.filter((name) => !index.includes(`>${name}</a>`))).toEqual([]);
  expect(index.indexOf('Limit calls')).toBeLessThan(index.indexOf('>RateLimiter</a>'));
  const page = readFileSync(join(folder, 'reference/core/limiters.html'), 'utf8');
  expect(page).toMatch(/<h1 id="limit-calls"/);
  expect(page).toMatch(/<h2 id="api-ratelimiter"/);
});

test('the reference names each parameter, and lists names of other packages once at the end', () => {
  const pages = readdirSync(join(folder, 'reference'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html'))
    .map((file) => readFileSync(join(folder, 'reference', file), 'utf8'));
  expect(pages.length).toBeGreaterThan(30);
  expect(pages.filter((html) => /__namedParameters|Re-exports/.test(html))).toEqual([]);
  const koa = readFileSync(join(folder, 'reference/koa.html'), 'utf8');
  expect(koa.match(/<h2 [^>]*>Also exported/g)).toHaveLength(1);
});

test.each([
  ['/', 'leases', 'concurrency'],
  ['/zh/', '短信', '短信'],
])('search on %s finds %s', async (path, words, found) => {
  const page = await open(path);
  await (await searchOf(page)).fill(words);
  const result = page.locator('.VPLocalSearchBox .result').first();
  await result.filter({ hasText: found }).waitFor();
  expect(await result.getAttribute('href')).not.toMatch(/reference|decisions/);
  await result.click();
  await page.locator('.vp-doc h1').waitFor();
  expect(new URL(page.url()).pathname).not.toBe(path);
});

test.each([
  [
    'tokenBucket',
    'a=tokenBucket&a.capacity=5&a.refill=2&a.every=3s',
    tokenBucket({ capacity: 5, refill: 2, every: '3s' }),
  ],
  ['slidingLog', 'a=slidingLog&a.limit=7&a.window=11s', slidingLog({ limit: 7, window: '11s' })],
])('the playground decides as core does: %s', async (_, hash, policy) => {
  const page = await open(`/playground.html#${hash}&traffic=bursts`);
  const expected = await direct(policy, bursts);
  expect(await requestsOf(page)).toEqual(expected);
  const passed = expected.filter(([, outcome]) => outcome === 'passed').length;
  expect(await runs(page).locator('.counts').textContent()).toContain(
    `● ${passed} passed✕ ${40 - passed} denied○ 0 waiting`,
  );
});

test('the playground lets requests wait for a leaky bucket and a released permit', async () => {
  const page = await open(
    '/playground.html#a=leakyBucket&a.capacity=10&a.leak=1&a.every=1s&waits=yes&length=5.5',
  );
  await runs(page).getByText('● 6 passed').waitFor();
  expect(await runs(page).locator('.counts').textContent()).toContain('✕ 0 denied○ 2 waiting');
  await page.goto(`${url}/playground.html#a=concurrency&a.limit=2&waits=yes&holds=1&size=6&every=60`);
  await runs(page).getByText('longest wait 1.9 s').waitFor();
  expect(await runs(page).locator('.counts').textContent()).toContain('● 6 passed✕ 0 denied');
});

test('the playground compares two policies with the same traffic', async () => {
  const page = await open('/playground.html#a=tokenBucket&a.capacity=10&a.refill=1&a.every=1s');
  await page.getByRole('button', { name: 'Compare two policies' }).click();
  await runs(page).nth(1).locator('.counts').waitFor();
  expect(await requestsOf(page, 0)).toEqual(
    await direct(tokenBucket({ capacity: 10, refill: 1, every: '1s' }), bursts),
  );
  await page.getByRole('group', { name: 'Policy B' }).getByLabel('algorithm').selectOption('slidingLog');
  await runs(page).nth(1).getByText("slidingLog({ limit: 10, window: '10s' })").waitFor();
  expect(await requestsOf(page, 1)).toEqual(await direct(slidingLog({ limit: 10, window: '10s' }), bursts));
  await page.getByRole('button', { name: 'Show one policy' }).click();
  expect(await runs(page).count()).toBe(1);
});

test('a link restores policies, traffic and clicks', async () => {
  const page = await open('/playground.html');
  await field(page, 'capacity').fill('4');
  await page.getByLabel('pattern').selectOption('steady');
  await field(page, 'requests per second').fill('3');
  await page.getByRole('button', { name: 'Compare two policies' }).click();
  await page
    .locator('.timeline svg')
    .first()
    .click({ position: { x: 40, y: 20 } });
  await page.getByText('Clear 1 clicked').waitFor();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');

  const other = await open(link.slice(url.length));
  await runs(other).nth(1).locator('.counts').waitFor();
  expect(await field(other, 'capacity').inputValue()).toBe('4');
  expect(await field(other, 'requests per second').inputValue()).toBe('3');
  await other.getByText('Clear 1 clicked').waitFor();
  // By now the first page has also counted its click: it counts after it has shown it.
  const counts = await page.locator('.counts').allTextContents();
  expect(await other.locator('.counts').allTextContents()).toEqual(counts);
});

test.each([
  ['capacity', 'many', /^tokenBucket: capacity .*"many"$/],
  ['every', '-1s', /^tokenBucket: every .*"-1s"$/],
  ['requests in a burst', '0', /^size must be a number from 1 to 500, not '0'$/],
])('a wrong %s shows the reason', async (name, value, reason) => {
  const page = await open('/playground.html');
  await runs(page).locator('.counts').waitFor();
  await field(page, name).fill(value);
  expect(await page.getByRole('alert').textContent()).toMatch(reason);
  await field(page, name).fill('2');
  await runs(page).locator('.counts').waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

test('the playground works by keyboard, and time advances', async () => {
  const page = await open('/playground.html#a=fixedWindow&a.limit=2&a.window=10s&traffic=clicks&length=2');
  const counts = runs(page).locator('.counts');
  await counts.waitFor();
  await page.getByRole('slider', { name: 'time' }).focus();
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'Send a request' }).focus();
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('Enter');
  await counts.getByText('● 2 passed').waitFor();
  await counts.getByText('✕ 1 denied').waitFor();
  expect(await runs(page).locator('figcaption').textContent()).toContain('2 of 2 used; all back in 10 s');
  await page.getByRole('button', { name: 'Play' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('all back in 8 s').waitFor();
  await page.getByRole('button', { name: 'Play' }).waitFor();
});

test('on a phone the page fits the screen, and follows the dark colour scheme', async () => {
  const phone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;
  for (const path of ['/playground.html', '/algorithms/token-bucket.html']) {
    const page = await open(path, phone);
    await runs(page).locator('.counts').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe('rgb(27, 27, 31)');
  }
});

test.each(
  readdirSync(join(root, 'packages/core/src/algorithms'), { withFileTypes: true })
    .filter(({ name, parentPath }) => existsSync(join(parentPath, name, 'README.md')))
    .map(({ name }) => name),
)('the page of %s draws it, and links to the playground', async (name) => {
  const page = await open(`/algorithms/${name}.html`);
  await runs(page).locator('.counts').waitFor();
  const counts = await runs(page).locator('.counts').textContent();
  await page.getByRole('link', { name: 'Try other numbers' }).click();
  await page.getByRole('button', { name: 'Copy link' }).waitFor();
  await runs(page).locator('.counts').waitFor();
  expect(await runs(page).locator('.counts').textContent()).toBe(counts);
});

describe('the site', () => looks({ folder: () => folder, open }));
