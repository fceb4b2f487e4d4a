import express from 'express';
import supertest from 'supertest';
import byDefault, {
  ipKeyGenerator,
  type Options,
  type RateLimitInfo,
  type RateLimitRequestHandler,
  rateLimit,
  type ValueDeterminingMiddleware,
} from './index.js';

const serving = (options: Options) => {
  const app = express();
  app.set('trust proxy', 'loopback');
  const limit: RateLimitRequestHandler = rateLimit(options);
  app.get('/', limit, (request, response) => {
    const { remaining }: RateLimitInfo = request.rateLimit!;
    response.send(`${remaining} left`);
  });
  return { client: supertest(app), limit };
};

test('the default export is rateLimit', () => expect(byDefault).toBe(rateLimit));

test.each<[string, string, number | false | undefined]>([
  ['192.0.2.1', '192.0.2.1', undefined],
  ['::ffff:192.0.2.1', '192.0.2.1', undefined],
  ['2001:db8:0:ff::1', '2001:db8::/56', undefined],
  ['2001:db8:0:ff::1', '2001:db8:0:ff::/64', 64],
  ['2001:db8:0:ff::1', '2001:db8:0:ff::1/128', false],
])('ipKeyGenerator of %s with subnet %s is %s', (ip, key, subnet) => {
  expect(ipKeyGenerator(ip, subnet)).toBe(key);
});

test('headers and problems show the name that an identifier function returns; counts do not depend on it', async () => {
  const identifier: ValueDeterminingMiddleware<string> = async (request) => `for ${request.get('x-plan')}`;
  const { client } = serving({ windowMs: 60_000, limit: 1, identifier });
  const first = await client.get('/').set('x-plan', 'a').expect(200, '0 left');
  expect(first.headers['ratelimit-policy']).toBe('"for a";q=1;w=60');
  const denied = await client.get('/').set('x-plan', 'b').set('Accept', 'application/json').expect(429);
  expect(denied.headers.ratelimit).toMatch(/^"for b";r=0;t=\d+$/);
  expect(denied.body['violated-policies']).toEqual(['for b']);
});

test('an identifier function that returns no string causes a 500', async () => {
  const { client } = serving({ limit: 1, identifier: () => undefined as never });
  await client.get('/').expect(500);
});

test('ipv6Subnet can be a function, or false', async () => {
  const from = (client: ReturnType<typeof serving>['client'], address: string) =>
    client.get('/').set('X-Forwarded-For', address);
  const { client } = serving({
    limit: 1,
    ipv6Subnet: async (request) => (request.ip?.startsWith('2001:db8:1:') ? 48 : false),
  });
  await from(client, '2001:db8:1:2::1').expect(200);
  await from(client, '2001:db8:1:3::1').expect(429);
  await from(client, '2001:db8:2::1').expect(200);
  await from(client, '2001:db8:2::2').expect(200);
  const { client: whole } = serving({ limit: 1, ipv6Subnet: false });
  await from(whole, '2001:db8:2::1').expect(200);
  await from(whole, '2001:db8:2::2').expect(200);
  await from(whole, '2001:db8:2::2').expect(429);
  const { client: wrong } = serving({ limit: 1, ipv6Subnet: () => 7 });
  await from(wrong, '2001:db8:2::1').expect(500);
});

test.each<[string, Options]>([
  ['a number', { limit: 0 }],
  ['a function', { limit: () => 0 }],
  ['max', { max: async () => 0 }],
])('a limit of 0 denies without Retry-After: %s', async (_, options) => {
  const { client } = serving({ ...options, legacyHeaders: true });
  const { headers } = await client.get('/').expect(429);
  expect(headers).not.toHaveProperty('retry-after');
  expect(headers['ratelimit-policy']).toMatch(/^"default";q=0/);
  expect(headers.ratelimit).toMatch(/^"default";r=0/);
  expect(headers).toMatchObject({ 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0' });
});

test('getKey returns the usage of a key, and resetKey clears it', async () => {
  const { client, limit } = serving({ limit: 2, keyGenerator: () => 'ann' });
  await client.get('/').expect(200);
  await client.get('/').expect(200);
  expect(await limit.getKey('ann')).toEqual({ totalHits: 2, resetTime: expect.any(Date) });
  await limit.resetKey('ann');
  expect(await limit.getKey('ann')).toMatchObject({ totalHits: 0 });
  await client.get('/').expect(200, '1 left');
});
