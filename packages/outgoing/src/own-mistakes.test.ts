import { slidingLog } from '@sluice/core';
import { ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

const stream = () => new Blob(['x']).stream();
const locked = () => {
  const body = stream();
  body.getReader();
  return body;
};

describe('a call that fetch refuses without sending it', () => {
  test.each<[string, () => RequestInit, string?]>([
    ['a GET with a body', () => ({ body: 'x' })],
    ['a HEAD with a stream', () => ({ method: 'HEAD', body: stream(), duplex: 'half' }) as RequestInit],
    ['a method that is none', () => ({ method: 'G T' })],
    ['a method that is forbidden', () => ({ method: 'TRACE' })],
    ['the name of a header that is none', () => ({ headers: { 'a b': '1' } })],
    ['the value of a header with a line break', () => ({ headers: { a: '1\n2' } })],
    ['headers in pairs of three', () => ({ headers: [['a', 'b', 'c']] as never })],
    ['a stream without duplex', () => ({ method: 'POST', body: stream() })],
    [
      'a stream that is read already',
      () => ({ method: 'POST', body: locked(), duplex: 'half' }) as RequestInit,
    ],
    ['a mode that is none', () => ({ mode: 'fast' as never })],
    ['an address with a password', () => ({}), 'https://user:secret@api.example.com/a'],
  ])('%s rejects at once, and counts for nothing', async (_, init, address = '/a') => {
    const limits = { requests: slidingLog({ limit: 1, window: '1m' }) };
    let attempts = 0;
    const fetch: typeof globalThis.fetch = async (input, given) => {
      attempts += 1;
      new Request(input, given);
      return new Response('ok');
    };
    const client = up.client({ limits, fetch });
    // As many as open the circuit.
    for (let i = 0; i < 6; i += 1)
      expect(await rejection(client.fetch(address, init()))).toHaveProperty('name', 'TypeError');
    expect([attempts, await client.state()]).toEqual([0, []]);
    // The only permit is there.
    expect((await client.fetch('/a')).status).toBe(200);
  });

  test('a Request whose body is used rejects at once', async () => {
    const request = new Request('https://api.example.com/a', { method: 'POST', body: 'x' });
    await request.text();
    expect(await rejection(up.client().fetch(request))).toBeInstanceOf(TypeError);
    expect(up.log).toEqual([]);
  });
});

test('the client sends all that fetch accepts: methods, bodies, headers and settings', async () => {
  const client = up.client();
  const post = { method: 'POST' };
  const calls: RequestInit[] = [
    { ...post, body: stream(), duplex: 'half' } as RequestInit,
    { ...post, body: new FormData() },
    { ...post, body: new Uint8Array([1]), headers: [['a', 'b']] },
    { ...post, body: 'x', headers: new Headers({ a: 'b' }), mode: 'cors' },
    { method: 'propfind', headers: { a: 'é' }, redirect: 'manual' },
    { body: undefined as never, headers: { a: 1 as never } },
    { body: null, signal: new AbortController().signal, keepalive: true },
  ];
  for (const init of calls) expect((await client.fetch('/a', init)).status).toBe(200);
  const given = () => new Request('https://api.example.com/a', { ...post, body: 'whole' });
  await client.fetch(given());
  await client.fetch(given(), { body: 'other', mode: 'cors' });
  expect(up.log.slice(-2).map(({ body }) => body)).toEqual(['whole', 'other']);
  expect(up.log).toHaveLength(calls.length + 2);
});
