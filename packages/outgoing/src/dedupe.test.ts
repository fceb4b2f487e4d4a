import { slidingLog } from '@sluice/core';
import { ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
  up.latency = 100;
  up.answer = ({ number }) => new Response(`answer ${number}`);
});
afterEach(() => up.close());

/** What calls got that began in one turn. */
async function textsOf(calls: readonly Promise<Response>[]): Promise<string[]> {
  await up.clock.advance('1s');
  return Promise.all(calls.map(async (call) => (await call).text()));
}

test('equal GETs in flight are sent once, for one permit, and each caller reads the whole response', async () => {
  const limits = { requests: slidingLog({ limit: 1, window: '1m' }) };
  const client = up.client({ dedupe: true, limits });
  const headers = { authorization: 'Bearer a', accept: 'text/plain' };
  const calls = [
    client.fetch('/a', { headers }),
    client.fetch('https://api.example.com/a', { headers: new Headers(headers), method: 'get' }),
    client.fetch(new URL('https://api.example.com/a'), {
      headers: Object.entries(headers),
      ...({ signal: undefined } as object),
    }),
  ];
  expect(await textsOf(calls)).toEqual(Array(3).fill('answer 1'));
});

test('a call after the response has begun is sent again', async () => {
  const client = up.client({ dedupe: true });
  expect(await textsOf([client.fetch('/a')])).toEqual(['answer 1']);
  expect(await textsOf([client.fetch('/a')])).toEqual(['answer 2']);
});

test.each<[string, RequestInit]>([
  ['with another token', { headers: { authorization: 'Bearer b' } }],
  ['with another header', { headers: { authorization: 'Bearer a', accept: 'text/html' } }],
  ['with a signal', { headers: { authorization: 'Bearer a' }, signal: new AbortController().signal }],
  ['with a setting', { headers: { authorization: 'Bearer a' }, redirect: 'manual' }],
  ['of another method', { headers: { authorization: 'Bearer a' }, method: 'HEAD' }],
])('a call %s has a response of its own', async (_, init) => {
  const client = up.client({ dedupe: true });
  const first = client.fetch('/a', { headers: { authorization: 'Bearer a' } });
  expect(await textsOf([first, client.fetch('/a', init)])).toEqual(['answer 1', 'answer 2']);
});

test('a Request, another address and a call with a known cost have responses of their own', async () => {
  const client = up.client({ dedupe: true });
  const calls = [
    client.fetch('/a'),
    client.fetch(new Request('https://api.example.com/a')),
    client.fetch('/a?page=2'),
    client.withCost(undefined, Promise.resolve(undefined), () => client.fetch('/a')),
  ];
  expect(await textsOf(calls)).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4']);
});

test('without dedupe equal calls are sent apart', async () => {
  const client = up.client();
  expect(await textsOf([client.fetch('/a'), client.fetch('/a')])).toEqual(['answer 1', 'answer 2']);
});

test('all callers get the error of their call, and the next call is sent', async () => {
  const client = up.client({ dedupe: true, retry: false });
  up.answer = ({ number }) => (number === 1 ? new Error('broken') : new Response('ok'));
  const calls = [1, 2, 3].map(() => rejection(client.fetch('/a')));
  await up.clock.advance('1s');
  expect((await Promise.all(calls)).map(String)).toEqual(Array(3).fill('Error: broken'));
  expect(await textsOf([client.fetch('/a')])).toEqual(['ok']);
});

test('with a limit on calls at once, copies know their address, and the permit comes back once all are read', async () => {
  const client = up.client({ dedupe: true, concurrency: 1 });
  up.answer = ({ number }) =>
    Object.defineProperty(new Response(`answer ${number}`), 'url', { value: 'https://api.example.com/a' });
  const calls = [client.fetch('/a'), client.fetch('/a')];
  await up.clock.advance('1s');
  const responses = await Promise.all(calls);
  expect(responses.map(({ url }) => url)).toEqual(Array(2).fill('https://api.example.com/a'));
  const next = client.fetch('/b');
  await up.clock.advance('1s');
  expect(up.paths).toBe('/a');
  await Promise.all(responses.map((response) => response.text()));
  expect(await textsOf([next])).toEqual(['answer 2']);
});

test('dedupe that is neither true nor false is refused', () => {
  expect(() => up.client({ dedupe: 'yes' as never })).toThrow(
    new TypeError('upstream: dedupe must be true or false, not "yes"'),
  );
});
