import { Readable } from 'node:stream';
import type { Browser } from 'playwright-core';
import { parseRules } from '../../../packages/rules/src/index.js';
import { simulate, simulationPage } from '../../../packages/rules/src/simulate/index.js';
import { startBrowser } from '../../support/browser.js';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>&'\u202e\u0000`;
const rules = (limit: number, file: string) =>
  parseRules(
    `
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{user.id}'
    limits:
      perMinute: { fixedWindow: { limit: ${limit}, window: 1m } }
      perHour: { slidingLog: { limit: 40, window: 1h } }
  - name: next
    mode: shadow
    compare: api
    limit: { gcra: { limit: 3, period: 1m } }
  - name: quiet
    match: { path: /none }
    limit: { gcra: { limit: 3, period: 1m } }
`,
    { file },
  );

function log(): string {
  const lines = Array.from({ length: 300 }, (_, i) =>
    JSON.stringify({
      ...{ time: 1_795_348_800 + i * 2, method: 'GET', url: `/v1/${encodeURIComponent(HOSTILE)}` },
      user: i % 3 === 0 ? HOSTILE : `user-${i % 20}`,
    }),
  );
  return [...lines, `<script>${HOSTILE}</script>`].join('\n');
}

test('the page shows plots and keys of a hostile log, and runs and loads nothing', async () => {
  const found = await simulate(rules(2, '<b>new</b>.yaml'), Readable.from([log()]), {
    against: rules(9, 'old.yaml'),
  });
  expect(found.newlyDenied!.requests).toBeGreaterThan(0);
  const page = await browser.newPage();
  const [messages, requests]: [string[], string[]] = [[], []];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('dialog', (dialog) => {
    messages.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => requests.push(request.url()));
  try {
    await page.setContent(simulationPage(found), { waitUntil: 'load' });
    expect(messages).toEqual([]);
    expect(requests.filter((url) => !url.startsWith('about:'))).toEqual([]);
    expect(await page.title()).toBe('<b>new</b>.yaml: whom would it deny?');
    expect(await page.locator('script, img, link, iframe').count()).toBe(0);
    expect(await page.locator('h2').allTextContents()).toEqual([
      'Against old.yaml',
      'api',
      'next, a shadow of api',
      'quiet',
    ]);
    const keys = await page.locator('td.key').allTextContents();
    const shown = HOSTILE.replace('\u202e', '\\u{202e}').replace('\u0000', '\\u{0}');
    expect(keys).toContain(shown);
    // The style applies, so the policy of the page permits it.
    const fill = (kind: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('rect.${kind}')).fill`);
    expect(await fill('requests')).not.toBe(await fill('denied'));
    // Plots: requests, share and two uses of `api`; requests, share and one use of `next`; one use of `quiet`, which no request has.
    expect(await page.locator('svg[role=img]').count()).toBe(7);
    const sizes = await page.locator('svg').evaluateAll((plots) => plots.map((plot) => plot.clientWidth));
    expect(Math.min(...sizes)).toBeGreaterThan(300);
    // Nothing is wider than a phone.
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
  } finally {
    await page.close();
  }
});
