import { isRateLimitExceededError, tokenBucket } from '@sluice/core';
import { refused, retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

test('redirects are followed within the origin, and returned if they lead elsewhere', async () => {
  const to = (location: string, status = 302) => new Response(null, { status, headers: { location } });
  up.answer = ({ path }) =>
    path === '/a'
      ? to('/b', 303)
      : path === '/b'
        ? to('c')
        : path === '/c'
          ? to('https://cdn.example/f')
          : new Response('ok');
  const client = up.client();
  const response = await client.fetch('/a', {
    method: 'POST',
    body: 'x',
    headers: { 'content-type': 'text/plain' },
  });
  expect([response.status, response.headers.get('location')]).toEqual([302, 'https://cdn.example/f']);
  expect(up.log.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
    'POST /a x',
    'GET /b ',
    'GET /c ',
  ]);
  expect((await client.fetch('/a', { redirect: 'manual' })).status).toBe(303);
});

test.each([undefined, 1])(
  'a response after a redirect says so, as of fetch, with concurrency: %p',
  async (concurrency) => {
    up.answer = ({ path }) =>
      path === '/a' ? new Response(null, { status: 302, headers: { location: '/b' } }) : new Response('ok');
    const client = up.client({ concurrency });
    const response = await client.fetch('/a');
    expect([response.redirected, response.clone().redirected, await response.text()]).toEqual([
      true,
      true,
      'ok',
    ]);
    expect((await client.fetch('/b')).redirected).toBe(false);
  },
);

test.each([301, 303, 308])(
  'with the setting `error` a %i rejects as of fetch, without a retry, and is no overload',
  async (status) => {
    up.answer = () => new Response(null, { status, headers: { location: '/b' } });
    const client = up.client();
    const calls = [
      () => client.fetch('/a', { redirect: 'error' }),
      () => client.fetch(new Request('https://api.example.com/a', { redirect: 'error' })),
    ];
    for (let i = 0; i < 6; i += 1) {
      const error = await rejection(calls[i % 2]!());
      expect(error).toMatchObject({ name: 'TypeError', cause: { message: 'unexpected redirect' } });
    }
    expect([up.log.length, await client.state()]).toEqual([6, []]);
  },
);

describe('a redirect of a Request', () => {
  const to = (location: string, status: number) => new Response(null, { status, headers: { location } });
  const address = 'https://api.example.com/a';

  test('keeps its headers, except those of a body that is not sent again', async () => {
    up.answer = ({ path }) => (path === '/a' ? to('/b', 303) : new Response('ok'));
    const headers = { authorization: 'Bearer one', 'content-type': 'text/plain' };
    await up.client().fetch(new Request(address, { method: 'POST', body: 'x', headers }), {
      headers: undefined as never,
    });
    expect(
      up.log.map((call) => [
        call.method,
        call.headers.get('authorization'),
        call.headers.get('content-type'),
      ]),
    ).toEqual([
      ['POST', 'Bearer one', 'text/plain'],
      ['GET', 'Bearer one', null],
    ]);
  });

  test('ends with its signal', async () => {
    up.answer = ({ path }) => (path === '/a' ? to('/b', 307) : retryAfter(20));
    const abort = new AbortController();
    const call = rejection(up.client().fetch(new Request(address, { signal: abort.signal })));
    await up.clock.advance('1s');
    expect(up.paths).toBe('/a /b');
    abort.abort(new Error('enough'));
    expect(String(await call)).toBe('Error: enough');
  });
});

describe('all hops of a call share', () => {
  const to = (location: string) => new Response(null, { status: 302, headers: { location } });

  test('one timeout', async () => {
    up.answer = ({ path, number }) =>
      path === '/done' ? new Response('ok') : number % 2 === 1 ? retryAfter(20) : to(`/${number}`);
    const call = rejection(up.client({ timeout: '30s' }).fetch('/0'));
    await up.clock.advance('5m');
    // The first hop waits for 20 s; of the second its refusal is the result, because another 20 s do not fit.
    expect(await call).toBeUndefined();
    expect(up.times.at(-1)).toBeLessThanOrEqual(30_000);
    expect(up.log).toHaveLength(3);
  });

  test('one number of attempts', async () => {
    // Each hop is refused once.
    up.answer = ({ number }) => (number % 2 === 1 ? refused(503) : to(`/${number}`));
    const call = up.client({ timeout: '5m', retry: { attempts: 3 } }).fetch('/0');
    await up.clock.advance('5m');
    expect((await call).status).toBe(503);
    // Three hops; two of them are sent again.
    expect(up.log).toHaveLength(5);
  });

  test('one cost of withCost, and take 1 for each further hop', async () => {
    up.answer = ({ path }) => (path === '/a' ? to('/b') : new Response('ok'));
    const limits = { tokens: tokenBucket({ capacity: 100, refill: 1, every: '1h' }) };
    const client = up.client({ limits, timeout: 0 });
    const call = (path: string, tokens: number, actual?: { readonly tokens: number }) =>
      client.withCost({ tokens }, Promise.resolve(actual), () => client.fetch(path));
    expect((await call('/a', 60, { tokens: 70 })).status).toBe(200);
    await new Promise(setImmediate);
    expect(up.paths).toBe('/a /b');
    // 29 are left: the call took 70 in truth, and its second hop 1.
    expect(isRateLimitExceededError(await rejection(call('/c', 30)))).toBe(true);
    expect((await call('/c', 29)).status).toBe(200);
  });

  test('no wait: a redirect itself is no retry', async () => {
    up.answer = ({ number }) => (number < 6 ? to(`/${number}`) : new Response('ok'));
    expect((await up.client({ timeout: 0, retry: { attempts: 1 } }).fetch('/0')).status).toBe(200);
  });
});
