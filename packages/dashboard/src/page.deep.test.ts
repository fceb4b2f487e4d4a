import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  concurrency,
  fixedWindow,
  leakyBucket,
  memoryStore,
  RateLimiter,
  redisStore,
  type Store,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../../../tests/support/browser.js';
import { eventually } from '../../../tests/support/eventually.js';
import { startRedis } from '../../../tests/support/redis/redis-server.js';
import { type Dashboard, dashboard, nodeHandler } from './index.js';

// The page in a real browser.

const HOSTILE: readonly (readonly [string, string])[] = [
  ['a script', '<script>hacked = 1</script>'],
  ['an image', '"\'><img src=x onerror="hacked = 1">'],
  ['text from right to left', '\u202egnp.live\u202c'],
  ['an entity', '&lt;b&gt;'],
  ['10 kB', '<i>'.repeat(3_334)],
];

let browser: Browser;
let server: Server;
let live: Dashboard<IncomingMessage>;
let url: string;
let isSignedIn: boolean;
/** Errors that the browser reports. */
let complaints: string[];
const limiters: RateLimiter[] = [];

beforeAll(async () => {
  browser = await startBrowser();
}, 120_000);
afterAll(() => browser?.close());

beforeEach(() => {
  complaints = [];
  isSignedIn = true;
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await live.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  for (const limiter of limiters.splice(0)) await limiter.close();
  expect(complaints).toEqual([]);
});

async function serve(store: Store, write = false): Promise<void> {
  live = dashboard(store, { authorize: () => isSignedIn, write });
  server = createServer(nodeHandler(live)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function limiterOf(store: Store, policy: RateLimiter['policies'][string], name = 'login'): RateLimiter {
  const limiter = new RateLimiter({ name, policy, store, deadline: '10s' });
  limiters.push(limiter);
  return limiter;
}

async function open(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) {
      complaints.push(`requested ${request.url()}`);
    }
  });
  await page.goto(url);
  await page.getByText('Live.').waitFor();
  return page;
}

async function show(page: Page, key: string, limiter = 'login'): Promise<void> {
  await page.locator('#limiter option', { hasText: limiter }).waitFor({ state: 'attached' });
  await page.getByLabel('Limit', { exact: true }).selectOption(limiter);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.locator('#watched figcaption').first().waitFor();
}

const once1h = fixedWindow({ limit: 1, window: '1h' });

/** Where the line of allowed calls begins: 1 at the right end of the canvas; false before it is drawn. */
const drawnFrom = `() => {
  const canvas = document.querySelector('[data-limiter=login] canvas');
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  const isGreen = (x, y) => {
    const at = 4 * (y * width + x);
    const [red, green, blue, alpha] = data.subarray(at, at + 4);
    return alpha > 100 && green > red + 20 && green > blue + 20;
  };
  for (let x = 1; x < width; x += 1)
    for (let y = 0; y < height; y += 1) if (isGreen(x, y)) return x / width;
  return false;
}`;

test('a denial appears within two seconds, also in the plot of its limiter', async () => {
  const store = memoryStore();
  await serve(store);
  const limiter = limiterOf(store, once1h);
  await limiter.consume('ann');
  const page = await open();
  // Up to three attempts: other work on the machine can delay one.
  for (let attempt = 1; ; attempt += 1) {
    // More calls are allowed than denied: the line of equal numbers would cover the other one.
    for (const other of ['bob', 'eve']) await limiter.consume(`${other}-${attempt}`);
    await limiter.consume(`ann-${attempt}`);
    await limiter.consume(`ann-${attempt}`);
    const row = page.locator('#denials tr', { hasText: `ann-${attempt}` });
    const appeared = row.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
    if ((await appeared) || attempt === 3) break;
  }
  expect(await page.locator('#denials tr').first().textContent()).toContain('login');
  await page
    .locator('[data-limiter=login] .denied', { hasText: /^(?:[1-9]|0\.[1-9])[\d.]* denied/ })
    .waitFor();
  await page.locator('[data-limiter=login] canvas').waitFor();
  const from = await eventually(() => page.evaluate<number | false>(`(${drawnFrom})()`));
  expect(from).toBeGreaterThan(0.5);
  await page.locator('[data-limiter=login]', { hasText: '1 per 1 h' }).waitFor();
});

test('a denial of another process appears within three seconds, with the round trip of its store', async () => {
  const redis = await startRedis();
  const [deciding, reading] = [redisStore({ url: redis.url, denials: true }), redisStore(redis.url)];
  try {
    await serve(reading);
    const limiter = limiterOf(deciding, once1h);
    await limiter.consume('ann');
    const page = await open();
    // Up to three attempts: other work on the machine can delay one.
    for (let attempt = 1; ; attempt += 1) {
      const row = page.locator('#denials tr', { hasText: `ann-${attempt}` });
      const appeared = row.waitFor({ timeout: 3_000 }).then(
        () => true,
        () => false,
      );
      let isOver = false;
      void appeared.then(() => {
        isOver = true;
      });
      while (!isOver) await limiter.consume(`ann-${attempt}`).then(() => page.waitForTimeout(50));
      if ((await appeared) || attempt === 3) break;
    }
    expect(await page.locator('#denials tr').first().textContent()).toContain(`:${process.pid}`);
    await page.getByText(/which answers in [\d.]+ ms, 99 % in [\d.]+ ms\./).waitFor();
  } finally {
    await Promise.all([deciding.close(), reading.close()]);
    await redis.stop();
  }
});

test.each(HOSTILE)('a hostile key is shown as text: %s', async (_, key) => {
  const store = memoryStore({ usage: { keys: 'plain' } });
  await serve(store, true);
  const limiter = limiterOf(store, once1h);
  await limiter.consume(key);
  await limiter.consume(key);
  const page = await open({ viewport: { width: 360, height: 800 } });
  await limiter.consume(key);
  await page.locator('#denials tr').waitFor();
  await page.locator('#top tr').waitFor();
  if (key.length <= 128) {
    for (const list of ['#denials', '#top']) {
      expect(await page.locator(`${list} bdi`).textContent()).toBe(key);
    }
    await page.locator('#denials').getByRole('button').click();
  } else await show(page, key);
  await page.locator('#watched figcaption').waitFor();
  expect(await page.locator('#watched h3 bdi').textContent()).toBe(key);
  await page.getByRole('button', { name: 'Reset…' }).click();
  expect(await page.locator('dialog bdi').textContent()).toBe(key);
  await page.getByRole('button', { name: 'Reset', exact: true }).click();
  await page.getByText('Reset. Before: login had 0 left.').waitFor();
  expect((await limiter.peek(key)).allowed).toBe(true);
  expect(await page.evaluate('typeof hacked')).toBe('undefined');
  expect(await page.locator('main :is(script, img, i)').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
});

test('a bucket fills between calls, and drains with a call', async () => {
  const store = memoryStore();
  await serve(store);
  const limiter = limiterOf(store, tokenBucket({ capacity: 1000, refill: 100, every: '1s' }));
  await limiter.consume('ann', { cost: 1000 });
  const page = await open();
  await show(page, 'ann');
  const level = async () => Number((await page.locator('svg.bucket text').textContent())!.replace(',', ''));
  const before = await level();
  while ((await level()) <= before) await page.waitForTimeout(20);
  await page.getByText('A call would pass now.').waitFor();
  await limiter.penalty('ann', 1000);
  await page.getByText('A call would be denied until').waitFor();
});

test('a key panel shows a window, a queue, and holders with their leases', async () => {
  const store = memoryStore();
  await serve(store);
  const window = limiterOf(store, slidingWindow({ limit: 10, window: '1h' }), 'window');
  const queue = limiterOf(store, leakyBucket({ capacity: 5, leak: 1, every: '1h' }), 'queue');
  const holders = limiterOf(store, concurrency({ limit: 2, lease: '30s' }), 'holders');
  await window.consume('ann', { cost: 3 });
  await queue.acquire('ann');
  const aborted = new AbortController();
  const waiting = [
    queue.acquire('ann', { signal: aborted.signal }),
    queue.acquire('ann', { signal: aborted.signal }),
  ];
  const held = await holders.acquire('ann', { cost: 2 });
  waiting.push(holders.acquire('ann', { signal: aborted.signal }));
  for (const one of waiting) one.catch(() => {});
  const page = await open();
  await show(page, 'ann', 'window');
  expect(await page.locator('figcaption').textContent()).toContain(
    '3 of 10 permits are used in the last 1 h.',
  );
  expect(await page.locator('svg.strip .mark').count()).toBe(1);
  await show(page, 'ann', 'queue');
  await page.getByText('2 booked calls wait for their moment.').waitFor();
  await show(page, 'ann', 'holders');
  await page.getByText('2 of 2 permits are held; 1 calls wait.').waitFor();
  await page.getByText(/2 held, called .* ago, lease ends in/).waitFor();
  await holders.release(held);
  await page.getByText('1 of 2 permits are held.').waitFor();
  aborted.abort();
  await holders.release(await waiting[2]!);
});

test('every action works by keyboard', async () => {
  const store = memoryStore();
  await serve(store, true);
  const limiter = limiterOf(store, once1h);
  await limiter.consume('ann');
  const page = await open();
  await page.locator('#limiter option').waitFor({ state: 'attached' });
  const tabTo = async (name: string) => {
    for (let i = 0; i < 20; i += 1) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent",
      );
      if (`${focused}`.trim() === name) {
        expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
        return;
      }
    }
    throw new Error(`no way to ${name}`);
  };
  await tabTo('Key');
  await page.keyboard.type('ann');
  await page.keyboard.press('Enter');
  await page.getByText('A call would be denied').waitFor();
  await tabTo('Override…');
  await page.keyboard.press('Enter');
  await page.locator('dialog[open]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.getByLabel('limit', { exact: true }).fill('3');
  await page.keyboard.press('Enter');
  await page.getByText('Overridden. Before: login had 0 left.').waitFor();
  await page.getByText('Other numbers by an override until').waitFor();
  expect((await limiter.peek('ann')).remaining).toBe(2);
  await tabTo('End override…');
});

test("the dialog shows the server's reason for a refusal", async () => {
  const store = memoryStore();
  await serve(store, true);
  await limiterOf(store, once1h).consume('ann');
  const page = await open();
  await show(page, 'ann');
  await page.getByRole('button', { name: 'Override…' }).click();
  await page.getByLabel('for').fill('1 fortnight');
  await page.getByRole('button', { name: 'Override', exact: true }).click();
  await page.locator('dialog [role=alert]', { hasText: 'expiresIn' }).waitFor();
  expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
});

test('a read-only page has no buttons that change a key', async () => {
  const store = memoryStore();
  await serve(store);
  await limiterOf(store, once1h).consume('ann');
  const page = await open();
  await show(page, 'ann');
  expect(await page.getByRole('button', { name: /…$/ }).count()).toBe(0);
});

test.each(['light', 'dark'] as const)('axe finds no serious problem in the %s theme', async (colorScheme) => {
  const store = memoryStore({ usage: { keys: 'plain' } });
  await serve(store, true);
  const limiter = limiterOf(store, once1h);
  const holders = limiterOf(store, concurrency({ limit: 2, lease: '30s' }), 'holders');
  await limiter.consume('ann');
  const held = await holders.acquire('ann');
  const page = await open({ colorScheme, reducedMotion: 'reduce' });
  await limiter.consume('ann');
  await page.locator('#denials tr').waitFor();
  await page.locator('#top tr').waitFor();
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const serious = () =>
    page.evaluate<string[]>(
      "axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))",
    );
  for (const name of ['login', 'holders']) {
    await show(page, 'ann', name);
    expect(await serious()).toEqual([]);
  }
  await page.getByRole('button', { name: 'Override…' }).click();
  expect(await serious()).toEqual([]);
  await holders.release(held);
});

test.each([360, 800, 1400])('at a width of %d pixels the page does not scroll sideways', async (width) => {
  const store = memoryStore({ usage: { keys: 'plain' } });
  await serve(store, true);
  const limiter = limiterOf(store, once1h, 'a-limiter-with-a-long-name.and-another-part-of-it');
  await limiter.consume('ann');
  const page = await open({ viewport: { width, height: 800 } });
  await limiter.consume('ann');
  await page.locator('#denials tr').waitFor();
  await show(page, 'ann', limiter.name);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
});

test('a lost connection is opened again, and a signed-out user sees no more data', async () => {
  const store = memoryStore();
  await serve(store);
  const limiter = limiterOf(store, once1h);
  await limiter.consume('ann');
  const page = await open();
  server.closeAllConnections();
  await page.getByText('trying again').waitFor();
  await page.getByText('Live.').waitFor();
  await limiter.consume('ann');
  await page.locator('#denials tr').waitFor();
  isSignedIn = false;
  server.closeAllConnections();
  await page.getByText('You are not signed in').waitFor();
  expect(await page.getByText('login').count()).toBe(0);
  const expected = /ERR_INCOMPLETE_CHUNKED_ENCODING|401/;
  expect(complaints.splice(0).filter((text) => !expected.test(text))).toEqual([]);
});

test('the header shows since when Redis is out, until it is back', async () => {
  const redis = await startRedis();
  const store = redisStore({ url: redis.url, usage: true });
  store.on('degraded', () => {});
  try {
    await serve(store);
    const limiter = new RateLimiter({ name: 'login', policy: once1h, store, denyCache: false });
    limiters.push(limiter);
    await limiter.consume('ann');
    while ((await readDefinitions(store)).length === 0) await limiter.consume('ann');
    const page = await open();
    await show(page, 'ann');
    await page.getByText(`Counted in Redis at ${redis.url}`).waitFor();
    await redis.kill('SIGKILL');
    for (let i = 0; i < 10; i += 1) await limiter.consume('bob');
    await page.getByText('is out since').waitFor();
    await redis.restart();
    while ((await page.getByText('is out since').count()) > 0) {
      await limiter.consume('bob');
      await page.waitForTimeout(50);
    }
  } finally {
    await store.close();
    await redis.stop();
  }
});
