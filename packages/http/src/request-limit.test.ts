import { CombinedLimiter, concurrency, fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { deciding, OpenResponse } from '../../../tests/support/open-response.js';
import { RequestLimit } from './request-limit.js';
import type { RequestView } from './views.js';

const policy = fixedWindow({ limit: 1, window: '10s' });
const limit = (options: object) => new RequestLimit('rateLimit', options as never);
const request: RequestView = {
  ip: '192.0.2.1',
  user: { id: 7 },
  method: 'GET',
  path: '/',
  params: {},
  query: {},
  body: undefined,
  headers: { 'x-tenant': 'acme' },
};

test.each<[object, RegExp]>([
  [{ polcy: policy }, /rateLimit has no option 'polcy'; did you mean 'policy'\?/],
  [{}, /rateLimit needs a policy/],
  [{ policy: 5 }, /not 5/],
  [{ policy, store: memoryStore() }, /needs a name/],
  [{ policy, limiter: new RateLimiter({ policy }) }, /policy belongs to the limiter/],
  [{ policy: null }, /not null/],
  [{ policies: 5 }, /policies must be an object .* not 5/],
  [{ policies: {} }, /policies must be an object of 1 to 20/],
  [{ policy, policies: { policy } }, /pass policy or policies, not both/],
  [{ policy: () => policy, policies: { policy } }, /pass policy or policies, not both/],
  [{ policy: () => policy, store: memoryStore() }, /needs a name/],
  [{ policy: () => policy, name: 'a b' }, /name must be .* not "a b"/],
  [{ policy: () => policy, limiter: new RateLimiter({ policy }) }, /policy belongs to the limiter/],
  [{ hashTag: 'a', limiter: new RateLimiter({ policy }) }, /hashTag belongs to the limiter/],
  [{ limiter: {} }, /limiter must be a RateLimiter or a CombinedLimiter, not an object/],
  [{ limiter: null }, /limiter must be a RateLimiter or a CombinedLimiter, not null/],
  [
    { limiter: { consume: async () => ({}) } },
    /limiter must be a RateLimiter or a CombinedLimiter, not an object/,
  ],
  [
    { limiter: new CombinedLimiter({ one: new RateLimiter({ policy }) }) },
    /a CombinedLimiter needs a keyGenerator .* => \(\{ one: … \}\)/,
  ],
  [{ policy, retryAfterJitter: 20 }, /retryAfterJitter must be a share from 0 to 1, such as 0.2, not 20/],
  [{ policy, limitType: 'ip' }, /one of IP, USER, METHOD, CUSTOM, not "ip"/],
  [{ policy, limitType: null }, /one of IP, USER, METHOD, CUSTOM, not null/],
  [{ policy, key: null }, /key must be a string such as .* not null/],
  [{ policy, key: 5 }, /key must be a string such as .*, or a list such as \['USER', 'IP'\], not 5/],
  [{ policy, key: ['USER'] }, /rateLimit: key: a list of keys has 2 to 5 of them, not 1/],
  [{ policy, key: ['USER', 5] }, /a key must be a string such as 'IP', not 5/],
  [{ policy, key: ['user', 'IP'] }, /"user" is not a key; write 'USER'/],
  [{ policy, key: ['IP', 'USER'] }, /'IP' must be the last key of a list: every request has an address/],
  [{ policy, key: ['METHOD', 'IP'] }, /'METHOD' must be the last key/],
  [
    { policy, key: ['#{query.a}', 'x#{query.a}'] },
    /"x#\{query.a\}" never counts, because "#\{query.a\}" before it/,
  ],
  [{ policy, key: ['USER', '#{usr.id}'] }, /uses 'usr', which requests do not have/],
  [{ policy, key: ['USER', 'plain'] }, /has no expression/],
  [{ policy, key: ['USER', 'IP'], limitType: 'USER' }, /has no effect with limitType USER/],
  [{ policy, key: ['#{query.a}', 'IP'], user: () => 1 }, /user has no effect with limitType CUSTOM/],
  [{ policy, key: ['#{query.a}', 'USER'], ipv6Subnet: 48 }, /ipv6Subnet has no effect/],
  [{ policy, limitType: 'CUSTOM' }, /CUSTOM needs a key/],
  [{ policy, limitType: 'IP', key: '#{user.id}' }, /has no effect with limitType IP/],
  [{ policy, key: '#{usr.id}' }, /uses 'usr', which requests do not have; begin with one of ip, user/],
  [{ policy, key: '#{user.id' }, /#\{/],
  [{ policy, key: '#{user.id}', keyGenerator: () => 'x' }, /pass key or keyGenerator, not both/],
  [{ policy, keyGenerator: '#{ip}' }, /keyGenerator must be a function, not "#\{ip\}"/],
  [{ policy, skip: true }, /skip must be a function, not true/],
  [{ policy, user: 'id' }, /user must be a function, not "id"/],
  [{ policy, user: null }, /user must be a function, not null/],
  [{ policy, user: () => 1 }, /user has no effect with limitType IP/],
  [{ policy, user: () => 1, key: '#{user.id}' }, /user has no effect with limitType CUSTOM/],
  [{ policy, user: () => 1, keyGenerator: () => 'x' }, /user has no effect with keyGenerator/],
  [
    { policy, ipv6Subnet: 48, keyGenerator: () => 'x' },
    /ipv6Subnet has no effect with keyGenerator: call clientIp/,
  ],
  [{ policy, ipv6Subnet: 48, limitType: 'USER' }, /ipv6Subnet has no effect with limitType USER/],
  [{ policy, ipv6Subnet: null }, /ipv6Subnet must be a whole number from 32 to 128, not null/],
  [{ policy, ipv6Subnet: 129, key: '#{ip}' }, /ipv6Subnet must be a whole number from 32 to 128, not 129/],
  [{ policy, cost: null }, /cost must be a whole number from 0 to \d+, not null/],
  [{ policy, cost: { default: -1 } }, /cost.default must be a whole number/],
  [{ policy, cost: { other: 1 } }, /cost by policy has no option 'other'/],
  [{ policy: () => policy, cost: -1 }, /cost must be a whole number from 0 to \d+, not -1/],
  [{ policy: () => policy, cost: { any: 0.5 } }, /cost.any must be a whole number/],
  [{ policy, cost: -1 }, /cost must be a whole number from 0 to \d+, not -1/],
  [{ policy, ipv6Subnet: 129 }, /ipv6Subnet must be a whole number from 32 to 128, not 129/],
])('rejects %j', (options, message) => expect(() => limit(options)).toThrow(message));

test.each<[object, string]>([
  [{}, '192.0.2.1'],
  [{ limitType: 'USER' }, '7'],
  [{ limitType: 'USER', user: () => 'ann' }, 'ann'],
  [{ limitType: 'METHOD' }, 'all'],
  [{ key: "#{headers['x-tenant']}" }, 'acme'],
  [{ keyGenerator: () => 'made' }, 'made'],
  [{ key: '#{ip}' }, '192.0.2.1'],
])('%j counts by the key %s', async (options, key) => {
  const given = limit({ policy, ...options });
  expect(await deciding(given)(request)).toMatchObject({ allowed: true });
  expect(await given.limiter.peek(key)).toMatchObject({ remaining: 0 });
});

test.each([
  [{ ...request, ip: undefined }, {}, 500, 'no client address'],
  [{ ...request, ip: '127.1' }, {}, 400, 'not an IPv4 or IPv6 address'],
  [{ ...request, ip: '127.1' }, { key: '#{ip}' }, 400, 'not an IPv4 or IPv6 address'],
  [{ ...request, user: undefined }, { limitType: 'USER' }, 500, 'has no user'],
  [{ ...request, user: {} }, { limitType: 'USER' }, 500, '#{user.id}'],
  [request, { limitType: 'USER', user: () => ({ id: 7 }) }, 500, 'is an object'],
  [request, { limitType: 'USER', user: async () => null }, 500, 'is null'],
  [request, { keyGenerator: () => ['a'] }, 500, 'is an array'],
  [request, { keyGenerator: async () => undefined }, 500, 'is missing'],
  [{ ...request, user: undefined }, { key: '#{user.id}' }, 500, '#{user.id}'],
  [{ ...request, params: {} }, { key: '#{params.id}' }, 500, '#{params.id}'],
  [{ ...request, headers: {} }, { key: '#{headers.x-key}' }, 400, '#{headers.x-key}'],
  [{ ...request, query: {} }, { key: 'a:#<query.phone>' }, 400, '#<query.phone>'],
  [{ ...request, body: {} }, { key: '#{body.email}' }, 400, '#{body.email}'],
  [{ ...request, body: undefined, bodyParsed: true }, { key: '#{body.email}' }, 400, '#{body.email}'],
  [{ ...request, body: undefined, bodyParsed: false }, { key: '#{body.email}' }, 500, 'no body parser ran'],
  [
    { ...request, body: undefined, bodyParsed: false, advice: { body: 'Parse it first' } },
    { key: '#{body.email}' },
    500,
    'ran before the limit. Parse it first',
  ],
  [
    { ...request, route: undefined },
    { key: '#{route}' },
    500,
    'Put the limit on the route itself, or use #{path}',
  ],
  [
    { ...request, route: undefined, advice: { body: '', route: 'Pass it' } },
    { key: '#{route}' },
    500,
    'at this point. Pass it, or use #{path}',
  ],
  // If the framework does not say whether a body parser ran, the headers decide.
  [{ ...request, body: undefined, headers: {} }, { key: '#{body.email}' }, 400, '#{body.email}'],
  [{ ...request, body: undefined, headers: { 'content-length': '9' } }, { key: '#{body.a}' }, 500, 'parser'],
  [
    { ...request, body: undefined, headers: { 'transfer-encoding': 'chunked' } },
    { key: '#{body.a}' },
    500,
    'parser',
  ],
])('%#: a request without its key is rejected', async (view, options, status, cause) => {
  await expect(
    deciding(limit({ policy, validate: false, ...options }))(view as RequestView),
  ).rejects.toMatchObject({
    code: 'SLUICE_KEY_RESOLUTION',
    status,
    statusCode: status,
    expose: status === 400,
    // Clients may see the message.
    message: expect.not.stringMatching(/#[{<]|option|undefined|null|parser/),
    cause: { message: expect.stringContaining(cause) },
  });
});

test('an address in a template counts as a client: IPv6 by subnet, without the port', async () => {
  const decide = deciding(limit({ policy, key: '#{ip}|#{method}', ipv6Subnet: 48 }));
  const allowed = async (ip: string) => (await decide({ ...request, ip }))?.allowed;
  expect([await allowed('2001:db8::1'), await allowed('2001:db8:0:5::2')]).toEqual([true, false]);
  expect([await allowed('192.0.2.1:80'), await allowed('::ffff:192.0.2.1')]).toEqual([true, false]);
});

test('a cost that a function returns is checked', async () => {
  await expect(deciding(limit({ policy, cost: () => Number.NaN }))(request)).rejects.toThrow(RangeError);
});

test('held permits are released when the response ends', async () => {
  const held = limit({ policy: concurrency({ limit: 2 }), limitType: 'METHOD' });
  const [first, second] = [new OpenResponse(), new OpenResponse()];
  for (const response of [first, second]) await deciding(held, response)(request);
  expect(await deciding(held)(request)).toMatchObject({ allowed: false });
  first.end();
  first.end();
  expect(await held.limiter.peek('all')).toMatchObject({ remaining: 1 });
  second.end(500, false);
  expect(await held.limiter.peek('all')).toMatchObject({ remaining: 2 });
});

test('a release of held permits does not refund other permits', async () => {
  const policies = { atOnce: concurrency({ limit: 1 }), rate: fixedWindow({ limit: 2, window: '1h' }) };
  const held = limit({ policies, limitType: 'METHOD' });
  for (let i = 0; i < 2; i += 1) {
    const response = new OpenResponse();
    await deciding(held, response)(request);
    response.end();
  }
  const { policies: left } = await held.limiter.peek('all');
  expect(left.map(({ remaining }) => remaining)).toEqual([1, 0]);
});

test("close closes the limit's own limiter, but not one that it received", async () => {
  const limiter = new RateLimiter({ policy });
  const given = limit({ limiter });
  await given.close();
  expect(await deciding(given)(request)).toMatchObject({ allowed: true });
  const made = limit({ policy });
  await made.close();
  await expect(deciding(made)(request)).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
});

test('later changes of the options object have no effect', async () => {
  const options = { policy, limitType: 'METHOD', skip: () => true, onLimited: jest.fn() };
  const changed = limit(options);
  options.skip = () => false;
  options.onLimited = undefined as never;
  for (let i = 0; i < 2; i += 1) expect(await deciding(changed)(request)).toBeUndefined();
});
