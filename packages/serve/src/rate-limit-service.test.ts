import { type Call, ManualClock, memoryStore, redisStore } from '@sluice/core';
import { parseRules, Rules } from '@sluice/rules';
import { farStore } from '../../../tests/support/far-store.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { descriptor, RlsClient } from '../../../tests/support/rls-client.js';
import { Answer } from './answer.js';
import { Decider } from './decider.js';
import { type ServedRules, serve } from './index.js';
import { shouldRateLimit } from './rate-limit-service.js';

const RULES = `
rules:
  - name: user
    match: { host: shop, path: /user }
    key: '#{query.user}'
    limit: { fixedWindow: { limit: 3, window: 1m } }
  - name: partner
    match: { host: shop, path: /user, query: { user: partner } }
    replaces: [user]
    key: METHOD
    limit: { fixedWindow: { limit: 10, window: 1h } }
  - name: pair
    match: { host: shop, path: /a/b }
    key: '#{query.a}:#{query.b}'
    limit: { tokenBucket: { capacity: 2, refill: 1, every: 700ms } }
  - name: address
    match: { host: shop, path: /remote_address, ip: 192.0.2.0/24 }
    limit: { fixedWindow: { limit: 1, window: 1d } }
    reply: { body: 'slow down', headers: { X-Why: address, retry-after: 7, content-type: text/html } }
  - name: tries
    mode: shadow
    match: { host: shop, path: /try }
    key: '#{query.try}'
    limit: { fixedWindow: { limit: 1, window: 1m } }
  - name: pages
    match: { host: shop, path: /page, not: { header: { staff: '*' } } }
    key: '#{query.page}'
    limit: { fixedWindow: { limit: 1, window: 1m } }
  - name: twice
    match: { host: shop, path: /generic_key/generic_key, query: { generic_key: a, generic_key_2: b } }
    key: METHOD
    limit: { fixedWindow: { limit: 1, window: 1m } }
  - name: held
    match: { host: shop, path: /held }
    key: METHOD
    limit: { concurrency: { limit: 1, lease: 1h } }
  - name: staff
    match: { host: shop, path: /area, header: { staff: '*' } }
    key: "#{headers['staff']}"
    limit: { fixedWindow: { limit: 1, window: 1m } }
  - name: client
    match: { host: shop, path: /remote_address/any }
    limit: { fixedWindow: { limit: 1, window: 1m } }
  - name: colon
    match: { host: shop, path: /_id }
    key: METHOD
    limit: { fixedWindow: { limit: 1, window: 1m } }
  - name: missing
    match: { host: shop, path: /missing }
    key: '#{query.other}'
    limit: { fixedWindow: { limit: 1, window: 1m } }
`;

const SLOTTED = `
rules:
  - { name: a, match: { host: shop, path: /a }, key: '#{query.a}', limit: { fixedWindow: { limit: 9, window: 1m } } }
  - { name: b, match: { host: shop, path: /b }, key: METHOD, limit: { fixedWindow: { limit: 1, window: 1m } } }
`;

const clock = new ManualClock();
const store = memoryStore({ clock });
let rules: Rules;
let served: ServedRules;
let client: RlsClient;

beforeEach(async () => {
  rules = new Rules(RULES, { store });
  served = await serve(rules, { port: 0, grpcPort: 0 });
  client = new RlsClient(served.grpcPort);
});
afterEach(async () => {
  client.close();
  await served.close();
  await rules.close();
  await clock.advance('2d');
});
afterAll(() => store.close());

const send = (...entries: [string, string][]) => client.shouldRateLimit('shop', [descriptor(...entries)]);
const codes = async (times: number, ...entries: [string, string][]) => {
  const found = [];
  for (let i = 0; i < times; i += 1) found.push((await send(...entries)).overall_code);
  return found;
};

test('a descriptor takes permits of its rule, and the answer has the limit, the rest and the time', async () => {
  const { overall_code, statuses } = await send(['user', 'ann']);
  expect(overall_code).toBe('OK');
  expect(statuses).toEqual([
    {
      code: 'OK',
      current_limit: { requests_per_unit: 3, unit: 'MINUTE', name: 'rules.user' },
      limit_remaining: 2,
      duration_until_reset: { seconds: 60, nanos: 0 },
    },
  ]);
  expect(await codes(3, ['user', 'ann'])).toEqual(['OK', 'OK', 'OVER_LIMIT']);
  expect(await codes(1, ['user', 'ben'])).toEqual(['OK']);
});

test('values are exact, and a value can have a rule of its own', async () => {
  expect(await codes(4, ['user', 'Partner'])).toEqual(['OK', 'OK', 'OK', 'OVER_LIMIT']);
  const { statuses } = await send(['user', 'partner']);
  expect(statuses[0]).toMatchObject({
    current_limit: { name: 'rules.partner', unit: 'HOUR' },
    limit_remaining: 9,
  });
});

test('an answer has the headers of the limit, also of an allowed call, and the reply of the rule that denied', async () => {
  const allowed = await send(['remote_address', '192.0.2.7']);
  expect(allowed.response_headers_to_add).toEqual([
    { key: 'ratelimit-policy', value: '"rules.address";q=1;w=86400' },
    { key: 'ratelimit', value: '"rules.address";r=0;t=86400' },
  ]);
  const denied = await send(['remote_address', '192.0.2.7']);
  expect(denied.response_headers_to_add!.slice(2)).toEqual([
    { key: 'retry-after', value: '7' }, // of the rule's reply
    { key: 'x-why', value: 'address' },
    { key: 'content-type', value: 'text/plain; charset=utf-8' },
  ]);
  expect(Buffer.from(denied.raw_body!, 'base64').toString()).toBe('slow down');
  expect(await codes(2, ['remote_address', '198.51.100.7'])).toEqual(['OK', 'OK']);
});

test('a limit whose window is no unit of Envoy has no unit', async () => {
  const [status] = (await send(['a', 'x'], ['b', 'y'])).statuses;
  expect(status!.current_limit).toEqual({ requests_per_unit: 2, unit: 'UNKNOWN_UNIT', name: 'rules.pair' });
  expect(status!.duration_until_reset).toEqual({ seconds: 0, nanos: 700_000_000 });
});

test('a key of several values counts each combination', async () => {
  expect(await codes(3, ['a', 'x'], ['b', 'y'])).toEqual(['OK', 'OK', 'OVER_LIMIT']);
  expect(await codes(1, ['a', 'x:y'], ['b', ''])).toEqual(['OK']);
  expect(await codes(1, ['a', 'y'], ['b', 'x'])).toEqual(['OK']);
  expect(await codes(3, ['a', 'x'])).toEqual(['OK', 'OK', 'OK']);
});

test('an empty value is counted like any other', async () => {
  expect(await codes(4, ['user', ''])).toEqual(['OK', 'OK', 'OK', 'OVER_LIMIT']);
});

test('hits_addend is the cost: of the request, or of one descriptor', async () => {
  const hits = async (value: number | undefined, own?: number) => {
    const one = { ...descriptor(['user', 'cay']), ...(own !== undefined && { hits_addend: { value: own } }) };
    const { statuses } = await client.shouldRateLimit('shop', [one], value);
    return [statuses[0]!.code, statuses[0]!.limit_remaining];
  };
  expect(await hits(2)).toEqual(['OK', 1]);
  expect(await hits(2)).toEqual(['OVER_LIMIT', 1]);
  expect(await hits(2, 1)).toEqual(['OK', 0]);
  expect(await hits(undefined, 0)).toEqual(['OK', 0]);
  expect(await hits(2 ** 32 - 1)).toEqual(['OVER_LIMIT', 0]);
  expect(await hits(undefined, 2 ** 63)).toEqual(['OVER_LIMIT', 0]);
});

test('a denied request takes nothing of its other descriptors', async () => {
  await codes(3, ['user', 'dan']);
  const both = await client.shouldRateLimit('shop', [
    descriptor(['user', 'eve']),
    descriptor(['user', 'dan']),
  ]);
  expect(both.overall_code).toBe('OVER_LIMIT');
  expect(both.statuses.map(({ code }) => code)).toEqual(['OK', 'OVER_LIMIT']);
  expect((await rules.limiter('user').peek('eve')).remaining).toBe(3);
});

test('two descriptors of one rule are two policies of the answer, or take of one count', async () => {
  const users = (...names: string[]) =>
    client.shouldRateLimit(
      'shop',
      names.map((name) => descriptor(['user', name])),
    );
  const { statuses, response_headers_to_add } = await users('fay', 'gus', 'fay');
  expect(
    statuses.map(({ current_limit, limit_remaining }) => [current_limit!.name, limit_remaining]),
  ).toEqual([
    ['rules.user', 1],
    ['rules.user#2', 2],
    ['rules.user', 1],
  ]);
  expect(response_headers_to_add![1]!.value).toBe('"rules.user";r=1;t=60, "rules.user#2";r=2;t=60');
  expect((await users('gus', 'fay', 'fay')).statuses.map(({ code }) => code)).toEqual([
    'OK',
    'OVER_LIMIT',
    'OVER_LIMIT',
  ]);
  expect((await rules.limiter('user').peek('gus')).remaining).toBe(2);
});

test('a descriptor without a rule is OK beside one that is denied', async () => {
  const both = () => client.shouldRateLimit('shop', [descriptor(['none', 'x']), descriptor(['user', 'hal'])]);
  for (let i = 0; i < 3; i += 1) expect((await both()).statuses[0]).toEqual({ code: 'OK' });
  expect((await both()).statuses.map(({ code }) => code)).toEqual(['OK', 'OVER_LIMIT']);
});

describe('a remote store', () => {
  test('that is Redis counts two keys of one rule, all or nothing', async () => {
    const redis = redisStore(redisUrl());
    const own = new Rules(
      { ...parseRules(RULES).document, name: uniqueName('rls') },
      { store: redis, deadline: '10s' },
    );
    const decider = new Decider(own);
    const send = async (...users: string[]) => {
      const descriptors = users.map((user) => descriptor(['user', user]));
      const { statuses } = await shouldRateLimit(decider, { domain: 'shop', descriptors }, new Answer());
      return statuses;
    };
    expect(await send('ann', 'bob', 'ann')).toMatchObject([
      { code: 'OK', limitRemaining: 1 },
      { code: 'OK', limitRemaining: 2 },
      { code: 'OK', limitRemaining: 1 },
    ]);
    expect(await send('bob', 'ann', 'ann')).toMatchObject([
      { code: 'OK', limitRemaining: 2 },
      { code: 'OVER_LIMIT', limitRemaining: 1 },
      { code: 'OVER_LIMIT', limitRemaining: 1 },
    ]);
    expect(await send('bob')).toMatchObject([{ code: 'OK', limitRemaining: 1 }]);
    await own.close();
    await redis.close();
  });

  test('decides all descriptors in one call, so a flood of denied requests takes nothing of others', async () => {
    const far = farStore();
    const own = new Rules(RULES, { store: far.store });
    const decider = new Decider(own);
    const send = (user: string) => {
      const descriptors = [
        descriptor(['generic_key', 'a'], ['generic_key', 'b']),
        descriptor(['user', user]),
      ];
      return shouldRateLimit(decider, { domain: 'shop', descriptors }, new Answer());
    };
    await own.limiter('user').penalty('mallory', 3);
    const flood = Array.from({ length: 20 }, () => send('mallory'));
    const [answer, ...denied] = (await Promise.all([...flood, send('ann')])).reverse();
    expect(answer!.overallCode).toBe('OK');
    expect(new Set(denied.map(({ overallCode }) => overallCode))).toEqual(new Set(['OVER_LIMIT']));
    expect(far.operations).not.toContain('refund');
    await own.close();
    await far.store.close();
  });

  test('with slots decides each descriptor by itself, and no denial waits for the permits to come back', async () => {
    let answerRefunds = () => {};
    const refunds = new Promise<void>((done) => {
      answerRefunds = done;
    });
    const memory = memoryStore();
    const decide = async (call: Call) => {
      if (call.operation === 'refund') await refunds;
      return memory.decide(call);
    };
    const own = new Rules(SLOTTED, { store: farStore({ slotted: true, decide }).store, deadline: '10s' });
    const decider = new Decider(own);
    const send = () => {
      const descriptors = [descriptor(['a', 'x']), descriptor(['b', 'x'])];
      return shouldRateLimit(decider, { domain: 'shop', descriptors }, new Answer());
    };
    expect((await send()).overallCode).toBe('OK');
    expect((await send()).overallCode).toBe('OVER_LIMIT');
    answerRefunds();
    await decider.settled();
    expect((await own.limiter('a').peek('x')).remaining).toBe(8);
    await own.close();
    await memory.close();
  });
});

test('a rule sees the entries of all descriptors of its request as headers', async () => {
  const page = descriptor(['page', 'home']);
  const plain = [await client.shouldRateLimit('shop', [page]), await client.shouldRateLimit('shop', [page])];
  expect(plain.map(({ overall_code }) => overall_code)).toEqual(['OK', 'OVER_LIMIT']);
  const { statuses } = await client.shouldRateLimit('shop', [page, descriptor(['Staff', 'zoe'])]);
  expect(statuses).toEqual([{ code: 'OK' }, { code: 'OK' }]);
});

test('an entry of another descriptor is a text that a key can use', async () => {
  const both = (name: string, more: [string, string][] = []) =>
    client.shouldRateLimit('shop', [descriptor(['area', 'a']), descriptor(['Staff', name], ...more)]);
  expect((await both('zoe')).overall_code).toBe('OK');
  expect((await both('zoe', [['staff', 'zoe']])).overall_code).toBe('OVER_LIMIT');
  expect((await both('yan')).overall_code).toBe('OK');
});

test.each(['', 'x', '192.0.2.1, 10.0.0.1', '127.1'])(
  'a remote_address that is none counts with all others of its kind: %j',
  async (value) => {
    expect(await codes(1, ['remote_address', 'unknown'], ['any', '1'])).toEqual(['OK']);
    expect(await codes(1, ['remote_address', value], ['any', '1'])).toEqual(['OVER_LIMIT']);
    expect(await codes(2, ['remote_address', '192.0.2.1:443'], ['any', '1'])).toEqual(['OK', 'OVER_LIMIT']);
  },
);

test('a key with the signs of a pattern is one path', async () => {
  expect(await codes(2, [':id', 'a'])).toEqual(['OK', 'OVER_LIMIT']);
  expect(await codes(1, ['user', 'ann'])).toEqual(['OK']);
  expect(await codes(1, ['*id', 'a'])).toEqual(['OVER_LIMIT']);
});

test('a key that a descriptor has twice gets a number', async () => {
  expect(await codes(2, ['generic_key', 'a'], ['generic_key', 'b'])).toEqual(['OK', 'OVER_LIMIT']);
  expect(await codes(2, ['generic_key', 'b'], ['generic_key', 'a'])).toEqual(['OK', 'OK']);
});

test('a shadow rule counts and never denies', async () => {
  expect(await codes(3, ['try', 'x'])).toEqual(['OK', 'OK', 'OK']);
  expect((await rules.limiter('tries').peek('x')).remaining).toBe(0);
});

test('a permit of concurrency is released with the answer', async () => {
  expect(await codes(3, ['held', 'x'])).toEqual(['OK', 'OK', 'OK']);
});

test.each([
  ['an unknown domain', 'other', 'user'],
  ['a domain that names a member of objects', '__proto__', 'user'],
  ['an unknown key', 'shop', 'constructor'],
  ['a key like a path', 'shop', '../user'],
])('%s passes without a limit', async (_, domain, key) => {
  const { overall_code, statuses } = await client.shouldRateLimit(domain, [descriptor([key, 'x'])]);
  expect([overall_code, statuses]).toEqual(['OK', [{ code: 'OK' }]]);
});

test('a descriptor without the key of its rule fails, and says which', async () => {
  await expect(send(['missing', 'x'])).rejects.toMatchObject({
    code: 9,
    details: expect.stringContaining('query.other'),
  });
});

test('a denial comes before a descriptor that fails, because Envoy passes a call that fails', async () => {
  const both = () =>
    client.shouldRateLimit('shop', [
      descriptor(['missing', 'x']),
      descriptor(['remote_address', '192.0.2.9']),
    ]);
  await expect(both()).rejects.toMatchObject({ code: 9 });
  const { overall_code, statuses } = await both();
  expect([overall_code, statuses[1]!.code]).toEqual(['OVER_LIMIT', 'OVER_LIMIT']);
});

test('the health service answers', async () => {
  expect(await client.health()).toBe(1);
});
