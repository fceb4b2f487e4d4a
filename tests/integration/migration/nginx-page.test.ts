import { gcra, ManualClock, memoryStore, RateLimiter } from '../../../packages/core/src/index.js';
import { RequestLimit } from '../../../packages/http/src/index.js';
import { parseRules, Rules, runTests } from '../../../packages/rules/src/index.js';
import { deciding } from '../../support/open-response.js';
import { randomFrom } from '../../support/random.js';
import { configOf } from './configs.js';
import { LimitReqModel, limitsOf, ordersOf } from './limit-req.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test('the tests in the document pass', async () => {
  expect((await runTests(parseRules(configOf('nginx', 'With Sluice')))).failed).toEqual([]);
});

test.each([1, 2])('both sides of the page admit the same requests of traffic %d', async (seed) => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const rules = new Rules(configOf('nginx', 'With Sluice'), { store });
  closers.push(
    () => store.close(),
    () => rules.close(),
  );
  const decide = deciding(new RequestLimit<[]>('rateLimit', { rules, validate: false }));
  const limits = limitsOf(configOf('nginx', 'Before'));
  expect(limits).toEqual([
    { zone: 'address', rate: 10_000, burst: 20_000, delay: Number.POSITIVE_INFINITY },
    { zone: 'key', rate: 2000, burst: 5000, delay: Number.POSITIVE_INFINITY },
  ]);
  const nginx = new LimitReqModel();
  const draw = randomFrom(seed);
  let now = 0;
  const results = { allowed: 0, denied: 0 };
  for (let i = 0; i < 1500; i += 1) {
    // bursts, and pauses of up to two seconds
    const pause = draw(12) > 0 ? draw(8) : draw(2000);
    now += pause;
    await clock.advance(pause);
    const ip = `192.0.2.${draw(3)}`;
    const key = ['', 'ada', 'ben'][draw(3)]!;
    const wait = nginx.request(now, limits, [ip, key]);
    const decision = await decide(ordersOf(ip, key));
    expect([i, decision!.allowed]).toEqual([i, wait !== undefined]);
    results[decision!.allowed ? 'allowed' : 'denied'] += 1;
  }
  expect(Math.min(results.allowed, results.denied)).toBeGreaterThan(150);
});

test.each<[string, object[]]>([
  [
    'not',
    [
      {
        name: 'a',
        match: { path: '/api/*', not: { ip: '10.0.0.0/8' } },
        limit: { gcra: { limit: 1, period: '1h', burst: 2 } },
      },
    ],
  ],
  [
    'unlimited',
    [
      { name: 'ours', match: { ip: '10.0.0.0/8' }, unlimited: true },
      { name: 'a', match: { path: '/api/*' }, limit: { gcra: { limit: 1, period: '1h', burst: 2 } } },
    ],
  ],
])('a geo with an empty key equals a rule with %s', async (_, rules) => {
  const compiled = new Rules({ rules } as never, { store: memoryStore({ clock: new ManualClock() }) });
  closers.push(() => compiled.close());
  const decide = deciding(new RequestLimit<[]>('rateLimit', { rules: compiled, validate: false }));
  const [limit] = limitsOf('limit_req_zone $limited zone=a:1m rate=1r/m; limit_req zone=a burst=1 nodelay;');
  const nginx = new LimitReqModel();
  // geo $ours { default 0; 10.0.0.0/8 1; } map $ours $limited { 0 $binary_remote_addr; 1 ''; }
  for (const ip of ['192.0.2.7', '10.1.2.3', '192.0.2.7', '10.1.2.3', '192.0.2.7', '10.1.2.3', '11.0.0.1']) {
    const admitted = nginx.request(0, [limit!], [ip.startsWith('10.') ? '' : ip]) !== undefined;
    const decision = await decide(ordersOf(ip, ''));
    expect([ip, decision?.allowed ?? true]).toEqual([ip, admitted]);
  }
});

/** Of the page: `burst=20` is `burst: 1` and `timeout: '2s'`; `burst=20 delay=8` is `burst: 9` and `timeout: '1200ms'`. */
test.each([
  ['burst=20', 1, '2s'],
  ['burst=20 delay=8', 9, '1200ms'],
  ['', 1, 0],
] as const)('%s delays as long as burst %d with timeout %s', async (options, burst, timeout) => {
  const [limit] = limitsOf(`limit_req_zone $remote_addr zone=a:1m rate=10r/s; limit_req zone=a ${options};`);
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  closers.push(() => store.close());
  const limiter = new RateLimiter({ name: 'a', store, policy: gcra({ limit: 10, period: '1s', burst }) });
  const nginx = new LimitReqModel();
  const draw = randomFrom(4);
  let now = 0;
  const expected: (number | undefined)[] = [];
  const waits: Promise<number | undefined>[] = [];
  for (let i = 0; i < 300; i += 1) {
    const pause = draw(160);
    now += pause;
    await clock.advance(pause);
    expected.push(nginx.request(now, [limit!], ['k']));
    waits.push(
      limiter.acquire('k', { timeout }).then(
        ({ waited }) => waited,
        () => undefined,
      ),
    );
    await new Promise(setImmediate);
  }
  await clock.advance('1m');
  expect(await Promise.all(waits)).toEqual(expected);
  expect(expected.filter((wait) => wait === undefined).length).toBeGreaterThan(options === '' ? 30 : 0);
});
