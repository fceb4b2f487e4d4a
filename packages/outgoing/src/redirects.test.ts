import { retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
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
