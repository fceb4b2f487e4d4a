import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import supertest from 'supertest';
import { blocksOf, evaluateBlock } from '../../integration/docs/markdown.js';
import { EXAMPLE_TARGETS, EXAMPLES_WITHOUT_REQUESTS } from './examples.js';
import { RECIPE_TARGETS, RECIPES_ATTACKED_BY, RECIPES_WITHOUT_REQUESTS } from './recipes.js';
import { Running, type Target } from './target.js';

// Attacks every recipe and example as its reader would run it.

const targets: readonly Target[] = [...RECIPE_TARGETS, ...EXAMPLE_TARGETS];
const named = (all: readonly Target[]) => all.map((target) => [target.name, target] as const);
const root = resolve(__dirname, '../../..');

let running: Running;
afterEach(() => running?.stop());

const { emitWarning } = process;
beforeEach(() => {
  // Programs without a proxy warn of the headers that an attacker sends.
  jest.spyOn(process, 'emitWarning').mockImplementation((...args: unknown[]) => {
    const { code } = (args[1] ?? {}) as { code?: string };
    if (code !== 'SLUICE_FORWARDED_UNTRUSTED') Reflect.apply(emitWarning, process, args);
  });
});
afterEach(() => jest.restoreAllMocks());

/** Names from which programs read a client, a user or an address. */
const HEADERS = [
  'X-Api-Key',
  'X-User',
  'X-User-Id',
  'Authorization',
  'Cookie',
  'X-Real-IP',
  'X-Client-IP',
  'CF-Connecting-IP',
  'True-Client-IP',
  'Forwarded',
  'User-Agent',
  'X-Request-Id',
];
/** More than the limit, also after requests that were not counted. */
const times = ({ most }: Target) => most + Math.min(most, 20) + 5;

/** Sends many requests, some at the same moment. */
async function many(count: number, send: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i += 5) {
    await Promise.all(Array.from({ length: Math.min(5, count - i) }, (_, j) => send(i + j)));
  }
}

describe.each(named(targets))('%s', (_, target) => {
  beforeEach(async () => {
    running = await Running.start(target);
  });

  test('serves honest requests up to the limit', async () => {
    await many(times(target), () => running.send());
    expect([running.handled > 0, running.handled <= target.most]).toEqual([true, true]);
  });

  test('limits a client that invents headers', async () => {
    const invented = (i: number) => Object.fromEntries(HEADERS.map((name) => [name, `for=192.0.2.${i}`]));
    await many(times(target), (i) => running.send({ headers: invented(i) }));
    const honest = target.honest.headers;
    if (honest) await many(times(target), (i) => running.send({ headers: { ...invented(i), ...honest } }));
    expect(running.handled).toBeLessThanOrEqual(target.most);
  });

  test('limits a client that invents addresses', async () => {
    // Public and private ones by turns.
    const invented = (i: number) => (i % 2 === 0 ? `198.51.100.${i % 250}` : `10.0.${i >> 8}.${i & 255}`);
    await many(times(target), (i) => running.send({}, invented(i)));
    expect(running.handled).toBeLessThanOrEqual(target.most);
  });

  test('limits a client that disconnects before the response', async () => {
    running.leaves = true;
    await many(times(target), () => running.send());
    running.leaves = false;
    await running.send();
    expect(running.handled).toBeLessThanOrEqual(target.most);
  });
});

describe.each(named(targets.filter(({ behindProxy }) => behindProxy)))('%s', (_, target) => {
  test('counts an IPv6 network as one client', async () => {
    running = await Running.start(target);
    await many(times(target), (i) => running.send({}, undefined, `2001:db8:1:2::${i.toString(16)}`));
    expect(running.handled).toBeLessThanOrEqual(target.most);
  });
});

/** Values that a body can have in place of text. */
const NO_TEXT: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  true,
  [],
  {},
  ['ann'],
  [['ann']],
  { length: 3 },
  { toString: 'ann' },
  { id: 'ann' },
];

describe.each(named(targets.filter(({ field }) => field !== undefined)))('%s', (_, target) => {
  beforeEach(async () => {
    running = await Running.start(target);
  });

  test('refuses a request without the text that names its subject, and does not count it', async () => {
    for (const value of NO_TEXT) {
      expect([value, await running.send(running.with(value))]).toEqual([value, 400]);
    }
    for (const body of [undefined, null, [], 'ann', 7]) {
      expect([body, await running.send({ body })]).toEqual([body, 400]);
    }
    expect(running.handled).toBe(0);
    await running.send();
    expect(running.handled).toBe(1);
  });

  test('counts all spellings of a name as one', async () => {
    const { spellings = [], mostForOne = target.most } = target;
    expect(spellings.length).toBeGreaterThan(2);
    await many(times(target), (i) =>
      running.send(running.with(spellings[i % spellings.length]), undefined, `198.51.100.${i % 250}`),
    );
    expect(running.handled).toBeLessThanOrEqual(mostForOne);
  });

  test('limits a client that invents names', async () => {
    const { honest, field } = target;
    const value = String((honest.body as Record<string, string>)[field!]);
    // Other digits in a phone number, other letters elsewhere.
    const invented = (i: number) =>
      /\d$/.test(value) ? `${value.slice(0, -4)}${1000 + i}` : `invented${i}${value}`;
    await many(times(target), (i) => running.send(running.with(invented(i))));
    expect(running.handled).toBeLessThanOrEqual(target.most);
  });
});

test('an attacker does not lock out a browser that has logged in before', async () => {
  const target = targets.find(({ name }) => name.endsWith('DEVICE_SECRET'))!;
  running = await Running.start(target);
  const right = { account: 'ann', password: 'correct horse' };
  const { port } = running.server.address() as AddressInfo;
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '192.0.2.7' };
  const init = { method: 'POST', headers, body: JSON.stringify(right) };
  const first = await fetch(`http://127.0.0.1:${port}/login`, init);
  const [device] = first.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!);
  await many(60, (i) => running.send({}, undefined, `198.51.100.${i}`));

  const login = (cookie: string | undefined, body: object) =>
    running.send(
      { body, ...(cookie !== undefined && { headers: { Cookie: cookie } }) },
      undefined,
      '192.0.2.7',
    );
  expect(await login(undefined, right)).toBe(429);
  expect(await login(device, right)).toBe(200);
  // The cookie is for this account, and cannot be changed.
  expect(await login(device, { account: 'bob', password: 'x' })).toBe(401);
  for (const forged of [
    `${device}x`,
    device!.replace(/=./, '=_'),
    `device=${randomUUID()}.${'x'.repeat(43)}`,
  ]) {
    expect(await login(forged, right)).toBe(429);
  }
  const guesses: unknown[] = [];
  for (let i = 0; i < 6; i += 1) guesses.push(await login(device, { ...right, password: 'wrong' }));
  expect(guesses).toEqual([401, 401, 401, 401, 401, 429]);
});

test('a header of the CDN names the client only if the request comes from the CDN', async () => {
  const page = join(root, 'docs/recipes/behind-proxies.md');
  const [block] = blocksOf(page).filter(({ source }) => source.includes('cdn.addSubnet'));
  for (const [range, clients] of [
    ['127.0.0.0', ['198.51.100.7', '2001:db8:1:2::/64']],
    ['192.0.2.0', ['127.0.0.1', '127.0.0.1']],
  ] as const) {
    const { values } = await evaluateBlock(block!, require, { '192.0.2.0': range }, ['app']);
    const seen: string[] = [];
    for (const address of ['198.51.100.7', '2001:db8:1:2::7']) {
      const answer = await supertest(values.app as Parameters<typeof supertest>[0])
        .get('/')
        .set('CF-Connecting-IP', address);
      seen.push(answer.text);
    }
    expect(seen).toEqual(clients);
  }
});

test('every recipe and example is attacked here, or serves no requests', () => {
  const elsewhere = Object.keys(RECIPES_ATTACKED_BY);
  const known = [...targets.map(({ name }) => name.split(':')[0]), ...WITHOUT_REQUESTS, ...elsewhere];
  const files = [
    ...readdirSync(join(root, 'docs/recipes')).map((file) => `docs/recipes/${file}`),
    ...readdirSync(join(root, 'examples')).map((folder) => `examples/${folder}`),
  ];
  expect(files.filter((file) => !known.includes(file) && !file.endsWith('examples/README.md'))).toEqual([]);
});

test.each(Object.entries(RECIPES_ATTACKED_BY))('%s is run by %s', (recipe, file) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(recipe);
});

const WITHOUT_REQUESTS = [...RECIPES_WITHOUT_REQUESTS, ...EXAMPLES_WITHOUT_REQUESTS];
