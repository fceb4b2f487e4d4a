import type { Server } from 'node:http';
import { fixedWindow } from '@sluice/core';
import { Rules } from '@sluice/rules';
import express from 'express';
import supertest from 'supertest';
import { type RateLimitOptions, rateLimit } from './index.js';

let server: Server | undefined;
afterEach((done) => {
  if (server === undefined) done();
  else server.close(done);
  server = undefined;
});

async function serve(options: RateLimitOptions) {
  const app = express();
  app.use(rateLimit(options));
  app.use((request, response) => {
    response.json(Object.keys(request).filter((name) => /limit|quota/i.test(name)));
  });
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server!.once('listening', resolve));
  return supertest(server);
}

test.each<[string, RateLimitOptions, string]>([
  ['limit and windowMs', { limit: 1, windowMs: 5000 }, '"default";q=1;w=5'],
  ['max', { max: 1, windowMs: 5000 }, '"default";q=1;w=5'],
  ['limit alone: in a minute', { limit: 1 }, '"default";q=1;w=60'],
  ['a window as text', { limit: 1, windowMs: '1h' }, '"default";q=1;w=3600'],
  ['identifier', { limit: 1, identifier: 'api' }, '"api";q=1;w=60'],
  ['a function', { limit: () => 1, windowMs: 5000 }, '"default";q=1;w=5'],
])('accepts the option names of express-rate-limit: %s', async (_, options, policy) => {
  const client = await serve(options);
  await client.get('/').expect(200).expect('RateLimit-Policy', policy);
  await client.get('/').expect(429);
});

test('a limit function receives the request and the response, also of later requests', async () => {
  const client = await serve({
    limit: async (request, response) => (response.headersSent ? 0 : Number(request.get('x-limit'))),
    windowMs: '1h',
  });
  await client.get('/').set('x-limit', '2').expect(200);
  await client.get('/').set('x-limit', '1').expect(429);
  await client.get('/').set('x-limit', '2').expect(200);
  await client.get('/').set('x-limit', '2').expect(429);
});

test.each(['many', '-1', '0.5'])('a limit function that returns %s causes a 500', async (given) => {
  const client = await serve({ limit: (request) => Number(request.get('x-limit')) });
  jest.spyOn(console, 'error').mockImplementation(() => {}); // Express logs the error
  await client.get('/').set('x-limit', given).expect(500);
  jest.restoreAllMocks();
});

test('requestPropertyName names the property that holds the decision', async () => {
  const client = await serve({ limit: 1, requestPropertyName: 'quota' });
  await client.get('/').expect(200, ['quota']);
});

test('several limits can each use a property of their own', async () => {
  const app = express();
  app.use(
    rateLimit({ name: 'hour', limit: 9, requestPropertyName: 'hour' }),
    rateLimit({ name: 'day', limit: 5, requestPropertyName: 'day' }),
  );
  app.use((request, response) => {
    const { hour, day } = request as unknown as Record<string, { remaining: number }>;
    response.json([hour!.remaining, day!.remaining, request.rateLimit ?? null]);
  });
  await supertest(app).get('/').expect(200, [8, 4, null]);
});

const policy = fixedWindow({ limit: 1, window: '1m' });

test.each<[object, RegExp]>([
  [{ limit: 1, max: 1 }, /pass limit or max, not both/],
  [{ windowMs: 1000 }, /windowMs needs limit or max/],
  [{ limit: 1, policy }, /pass limit or policy, not both/],
  [{ max: 1, limits: { a: { policy } } }, /pass max or limits, not both/],
  [{ limit: -1 }, /limit must be .* not -1/],
  [{ limit: '5' }, /limit must be .* not "5"/],
  [{ limit: 1, windowMs: 0 }, /not 0/],
  [{ limit: 1, windowMs: Number.NaN }, /not NaN/],
  [{ limit: 1, windowMs: 'soon' }, /"soon"/],
  [{ policy, name: 'a', identifier: 'b' }, /pass name or identifier, not both/],
  [{ policy, identifier: 5 }, /name must be .* not 5/],
  [{ policy, requestPropertyName: '' }, /requestPropertyName must be .* not ""/],
  [{ policy, requestPropertyName: 5 }, /requestPropertyName must be .* not 5/],
  [{ policy, handler: 'no' }, /handler must be a function, not "no"/],
  [{ policy, handler: () => {}, message: 'no' }, /message has no effect with handler/],
  [{ policy, handler: () => {}, throw: true }, /throw has no effect with handler/],
  [{ policy, windowMS: 5 }, /no option 'windowMS'/],
  [{}, /rateLimit needs a policy/],
])('rejects the options %j', (options, message) => {
  expect(() => rateLimit(options as RateLimitOptions)).toThrow(message);
});

test('rejects identifier beside rules, which have names of their own', () => {
  const rules = new Rules({ rules: [{ name: 'a', match: { path: '/*' }, unlimited: true }] });
  const options = { rules, identifier: () => 'api' } as RateLimitOptions;
  expect(() => rateLimit(options)).toThrow('identifier has no effect with rules');
});

test.each([undefined, null, 5, 'limit'])('rejects %p as options', (options) => {
  expect(() => rateLimit(options as never)).toThrow(TypeError);
});
