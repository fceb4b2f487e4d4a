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
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { meter } from '@sluice/meter';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../../../tests/support/browser.js';
import { eventually } from '../../../tests/support/eventually.js';
import { startRedis } from '../../../tests/support/redis/redis-server.js';
import { type Dashboard, dashboard, nodeHandler } from './index.js';
import type { Finding } from './messages.js';

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

async function serve(store: Store, write = false, findings?: readonly Finding[]): Promise<void> {
  live = dashboard(store, {
    authorize: () => isSignedIn,
    write,
    ...(findings !== undefined && { findings: async () => findings }),
  });
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
  // It fills within 100 s, so it is not full when the page is open, and a penalty still denies when the page shows it.
  const limiter = limiterOf(store, tokenBucket({ capacity: 1000, refill: 10, every: '1s' }));
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
  await page.getByText('2 of 2 permits are held; 1 call waits.').waitFor();
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

/** What doctor advises. */
const FINDINGS: readonly Finding[] = [
  {
    level: 'warning',
    what: 'maxmemory-policy is allkeys-lru',
    why: 'Redis may drop counts.',
    fix: 'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
  },
];

/** A page with all its parts: limits, keys that were denied, findings, and a key with a dialog. */
async function wholePage(options: BrowserContextOptions) {
  const store = memoryStore({ usage: { keys: 'plain' } });
  await serve(store, true, FINDINGS);
  const policies = { perHour: once1h, perDay: fixedWindow({ limit: 99, window: '1d' }) };
  const login = new RateLimiter({ name: 'countLimit:LoginController.login', policies, store });
  limiters.push(login);
  const holders = limiterOf(store, concurrency({ limit: 2, lease: '30s' }), 'holders');
  const held = await holders.acquire('2001:db8::1');
  // Denied before, for the counts that the page has at once; and once more, for the list of current denials.
  for (let i = 0; i < 2; i += 1) await login.consume('someone.with.a.long.name@example.com');
  const page = await open(options);
  await login.consume('someone.with.a.long.name@example.com');
  for (const list of ['#denials', '#top']) await page.locator(`${list} tr`).waitFor();
  await page.locator('.findings li').waitFor();
  return { page, login, end: () => holders.release(held) };
}

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };

test.each([
  ['light', DESK],
  ['dark', DESK],
  ['light', PHONE],
  ['dark', PHONE],
] as const)('axe finds nothing in the %s theme in a window of %j', async (colorScheme, viewport) => {
  const { page, login, end } = await wholePage({ colorScheme, viewport, reducedMotion: 'reduce' });
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const found = () =>
    page.evaluate<string[]>(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))",
    );
  for (const [key, name] of [
    ['2001:db8::1', 'holders'],
    ['someone.with.a.long.name@example.com', login.name],
  ] as const) {
    await show(page, key, name);
    expect(await found()).toEqual([]);
  }
  await page.getByRole('button', { name: 'Override…' }).click();
  expect(await found()).toEqual([]);
  await end();
});

test('the page has one landmark of each kind, and its navigation leads to each part', async () => {
  const { page, end } = await wholePage({ viewport: DESK });
  for (const role of ['banner', 'main', 'contentinfo', 'navigation'] as const)
    expect([role, await page.getByRole(role).count()]).toEqual([role, 1]);
  const targets = await page.evaluate<(string | null)[]>(
    "[...document.querySelectorAll('nav a')].map(({ hash }) => document.querySelector(hash)?.textContent ?? null)",
  );
  expect(targets).toEqual([
    'Limits',
    'One key',
    'Denied just now by all processes',
    'Denied most in 15 minutes',
    'What doctor found',
  ]);
  await end();
});

test('the most denied keys have the policy that denied them', async () => {
  const { page, end } = await wholePage({ viewport: DESK });
  const cells = await page.locator('#top tr').first().locator('td').allTextContents();
  expect(cells).toEqual([
    'countLimit:LoginController.login',
    'perHour 1 per 1 h',
    'someone.with.a.long.name@example.com',
    expect.stringMatching(/^[12]$/),
  ]);
  await end();
});

test('the advice of findings has the font of the text, and only its command is set as code', async () => {
  const { page, end } = await wholePage({ viewport: DESK });
  const fontOf = (selector: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).fontFamily`);
  expect(await fontOf('.findings .fix')).toBe(await fontOf('body'));
  expect(await fontOf('.findings .fix code')).toContain('monospace');
  expect(await page.locator('.findings code').allTextContents()).toEqual([
    'CONFIG SET maxmemory-policy noeviction',
  ]);
  await end();
});

/** How many lines each part of names has, and whether a name has several. */
const namesOf = `() => {
  const lines = (element) => new Set([...element.getClientRects()].map(({ top }) => Math.round(top))).size;
  const parts = [...document.querySelectorAll('.whole')].map(lines);
  return { most: Math.max(...parts), wraps: [...document.querySelectorAll('h3, .name')].some((name) => {
    const range = document.createRange();
    range.selectNodeContents(name);
    return lines(range) > 1;
  }) };
}`;

test.each([DESK, PHONE])(
  'names wrap after dots and colons, and within no word, in a window of %j',
  async (viewport) => {
    const store = memoryStore({ usage: { keys: 'plain' } });
    await serve(store, true);
    const name = 'countLimit:VerificationCodes.sendByPhone.perCaller:v2';
    const limiter = limiterOf(store, once1h, name);
    await limiter.consume('2001:db8:1234:5678::1');
    const page = await open({ viewport });
    await limiter.consume('2001:db8:1234:5678::1');
    await page.locator('#denials tr').waitFor();
    await show(page, '2001:db8:1234:5678::1', name);
    expect(await page.evaluate(`(${namesOf})()`)).toEqual({ most: 1, wraps: true });
    expect(await page.locator('.card h3').textContent()).toBe(name);
  },
);

test('each bar has a label with its value', async () => {
  const store = memoryStore();
  await serve(store);
  await limiterOf(store, slidingLog({ limit: 5, window: '1h' }), 'log').consume('ann', { cost: 2 });
  await limiterOf(store, fixedWindow({ limit: 10, window: '1h' }), 'window').consume('ann', { cost: 3 });
  await limiterOf(store, tokenBucket({ capacity: 10, refill: 1, every: '1h' }), 'bucket').consume('ann');
  const holders = limiterOf(store, concurrency({ limit: 2, lease: '30s' }), 'holders');
  const held = await holders.acquire('ann');
  const page = await open();
  const labels: string[][] = [];
  for (const name of ['log', 'window', 'bucket']) {
    await show(page, 'ann', name);
    await page.locator('h3.name', { hasText: name }).waitFor();
    labels.push(await page.locator('#watched .bar-label').allTextContents());
  }
  expect(labels).toEqual([
    ['Used: 2 of 5', 'Calls in 1 h: 1'],
    ['Used: 3 of 10', expect.stringMatching(/^Window: \d+ min( \d+ s)? left$/)],
    [expect.stringMatching(/^There: 9(\.\d)? of 10$/)],
  ]);
  await show(page, 'ann', 'holders');
  await page.getByRole('meter', { name: /1 held, called .* ago, lease ends in/ }).waitFor();
  await holders.release(held);
});

/** The left and right edges of the fields and buttons of the dialog. */
const edges = `() => {
  const boxesOf = (selector) => [...document.querySelectorAll('dialog ' + selector)].map((element) => element.getBoundingClientRect());
  const [submit, cancel] = boxesOf('.buttons button');
  return {
    labels: boxesOf('.fields span').map(({ left }) => left),
    left: [...boxesOf(':is(input, select)'), submit].map(({ left }) => left),
    right: boxesOf(':is(input, select)').map(({ right }) => right),
    tops: [submit.top, cancel.top],
    overflow: document.querySelector('dialog').scrollWidth - document.querySelector('dialog').clientWidth,
  };
}`;

test.each([DESK, PHONE])(
  'the fields and buttons of the dialog line up in a window of %j',
  async (viewport) => {
    const { page, login, end } = await wholePage({ viewport });
    await show(page, 'ann', login.name);
    await page.getByRole('button', { name: 'Override…' }).click();
    const { overflow, ...aligned } = await page.evaluate<Record<string, number[]>>(`(${edges})()`);
    expect(aligned.left!.length).toBe(4); // the policy, its limit, the time, and a button
    for (const places of Object.values(aligned)) expect(new Set(places.map(Math.round)).size).toBe(1);
    expect(overflow).toBe(0);
    await end();
  },
);

/** The cells of a list: each with its heading, and whether its text is in the window and in the list. */
const cellsOf = `(list) => [...document.querySelectorAll(list + ' tr:first-child td')].map((cell) => {
  const box = cell.firstElementChild.getBoundingClientRect();
  const { left, right } = cell.closest('.scroll').getBoundingClientRect();
  return [
    getComputedStyle(cell, '::before').content.slice(1, -1),
    box.width > 0 && box.left >= left && box.right <= Math.min(right, innerWidth) &&
      cell.firstElementChild.scrollWidth <= Math.ceil(box.width),
  ];
})`;

test.each([360, 390])('on a phone of %d pixels every column of every list is seen', async (width) => {
  const { page, end } = await wholePage({ viewport: { width, height: 844 } });
  const cells = (list: string) => page.evaluate(`(${cellsOf})('${list}')`);
  const seen = (...headings: string[]) => headings.map((heading) => [heading, true]);
  expect(await cells('#denials')).toEqual(seen('Last', 'Limit', 'Key', 'Calls', 'Passes'));
  expect(await cells('#top')).toEqual(seen('Limit', 'Policy', 'Key', 'Denied calls'));
  expect(
    await page.evaluate(
      "[...document.querySelectorAll('.scroll')].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)",
    ),
  ).toEqual([0, 0]);
  await end();
});

/** Whether the upper half of the plot has a colour: where no call was counted, both lines are at the bottom. */
const colours = `() => {
  const canvas = document.querySelector('[data-limiter=login] canvas');
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, Math.floor(height / 2));
  let [green, red] = [false, false];
  for (let at = 0; at < data.length; at += 4) {
    const [r, g, b, alpha] = data.subarray(at, at + 4);
    if (alpha < 100) continue;
    green ||= g > r + 20 && g > b + 20;
    red ||= r > g + 20 && r > b + 20;
  }
  return green && red;
}`;

test.each(['light', 'dark'] as const)(
  'as many denied calls as allowed ones show both lines of the plot in the %s theme',
  async (colorScheme) => {
    const store = memoryStore();
    await serve(store);
    const limiter = limiterOf(store, once1h);
    await limiter.consume('ann');
    const page = await open({ colorScheme });
    await page.locator('[data-limiter=login] canvas').waitFor();
    let calls = 0;
    await eventually(async () => {
      calls += 1;
      // In one turn, and so in one second.
      await Promise.all([limiter.consume('ann'), limiter.consume(`bob-${calls}`)]);
      return page.evaluate<boolean>(`(${colours})()`);
    }, 500);
  },
);

test('a limit is listed before its first call', async () => {
  const store = memoryStore();
  await serve(store);
  limiterOf(store, once1h);
  const page = await open();
  await page.locator('[data-limiter=login]', { hasText: '1 per 1 h' }).waitFor();
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

test('a key of a meter has the spent, held and left amounts of each axis, and the axis that stops it', async () => {
  const store = memoryStore();
  await serve(store);
  const budget = meter({
    name: 'ai',
    store,
    axes: { usd: fixedWindow({ limit: 100, window: '1h' }), running: concurrency({ limit: 2 }) },
    scopes: (user: string) => ['tenant:acme', { key: `user:${user}`, axes: ['usd'] }],
  });
  const first = await budget.hold('ann', { usd: 70 });
  await first.settle({ usd: 75 });
  const hold = await budget.hold('ann', { usd: 20 }, { lapse: 'refund', ttl: '1h' });
  const page = await open();
  await page.locator('#limiter option', { hasText: /^ai$/ }).waitFor({ state: 'attached' });
  await page.getByLabel('Limit', { exact: true }).selectOption('ai');
  await page.getByLabel('Key', { exact: true }).fill('ann');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  const cells = (text: string) => page.locator('#axes tr', { hasText: text }).locator('td').allTextContents();
  await page.locator('#axes tr').waitFor();
  expect(await cells('user:ann')).toEqual(['usd user:ann', '100', '75', '20', '5', '']);
  await page.getByText('A call would pass now.').waitFor();
  await hold.settle({ usd: 30 });
  await page.getByText('A call would be stopped by usd.').waitFor();
  const [, limit, spent, held, left, frees] = await cells('user:ann');
  expect([limit, spent, held, left]).toEqual(['100', '105', '0', '-5']);
  expect(frees).toMatch(/^(?:59 min|1 h)/);
  await page.getByLabel('Key', { exact: true }).fill('acme');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.locator('#axes tr', { hasText: 'running' }).waitFor();
  expect(await cells('running')).toEqual(['running tenant:acme', '2', '0', '0', '2', '']);
  expect(await page.locator('[data-limiter="ai"]').count()).toBe(0);
  expect(await page.locator('[data-limiter="ai:usd"]').count()).toBe(1);
  await budget.close();
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
