import { isRateLimitExceededError, slidingLog, tokenBucket } from '@sluice/core';
import { Agent, request } from 'undici';
import { FakeUpstream } from '../../../tests/support/outgoing/fake-upstream.js';
import { ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { type Upstream, upstream } from './index.js';

/** As many as open the circuit. */
const CALLS = 6;
/** The only permit is there after calls that count for nothing. */
const limits = { requests: slidingLog({ limit: 1, window: '1m' }) };

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
    let attempts = 0;
    const fetch: typeof globalThis.fetch = async (input, given) => {
      attempts += 1;
      new Request(input, given);
      return new Response('ok');
    };
    const client = up.client({ limits, fetch });
    for (let i = 0; i < CALLS; i += 1)
      expect(await rejection(client.fetch(address, init()))).toHaveProperty('name', 'TypeError');
    expect([attempts, await client.state()]).toEqual([0, []]);
    expect((await client.fetch('/a')).status).toBe(200);
  });

  test.each<[string, unknown]>([
    ['a Request of another library', { url: 'https://api.example.com/a', method: 'POST' }],
    ['undefined', undefined],
  ])('%s in place of an address rejects at once', async (_, input) => {
    for (const dedupe of [false, true]) {
      const error = await rejection(up.client({ dedupe }).fetch(input as never));
      expect(String(error)).toMatch(/^TypeError: upstream 'fake': fetch takes a text, a URL or a Request/);
    }
    expect(up.log).toEqual([]);
  });

  test('a Request whose body is used rejects at once', async () => {
    const request = new Request('https://api.example.com/a', { method: 'POST', body: 'x' });
    await request.text();
    expect(await rejection(up.client().fetch(request))).toBeInstanceOf(TypeError);
    expect(up.log).toEqual([]);
  });
});

test.each([Number.NaN, '1', undefined, null])(
  'a priority of %p rejects the call at once',
  async (priority) => {
    const error = await rejection(up.client({ limits, priority: () => priority as never }).fetch('/a'));
    expect(String(error)).toMatch(/^TypeError: upstream: priority must return a number, not /);
    expect(up.log).toEqual([]);
  },
);

test('the client sends all that fetch accepts: methods, bodies, headers and settings', async () => {
  for (const dedupe of [false, true])
    expect((await up.client({ dedupe }).fetch('/a', null as never)).status).toBe(200);
  up.log.length = 0;
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

describe('a request that undici refuses without sending it', () => {
  let service: FakeUpstream;
  let client: Upstream;
  let agent: Agent;
  beforeEach(async () => {
    service = await FakeUpstream.start();
    client = upstream({ name: 'service', origin: service.origin, limits });
    agent = new Agent();
  });
  afterEach(async () => {
    await client.close();
    await agent.destroy();
    await service.stop();
  });

  test.each<[string, string, object]>([
    ['a method that is none', 'UND_ERR_INVALID_ARG', { method: 'G T' }],
    ['a method that is no text', 'UND_ERR_INVALID_ARG', { method: 5 }],
    ['the value of a header with a line break', 'UND_ERR_INVALID_ARG', { headers: { a: '1\n2' } }],
    ['the header Expect', 'UND_ERR_NOT_SUPPORTED', { headers: { expect: '100-continue' } }],
  ])('by its interceptor: %s rejects with %s, and counts for nothing', async (_, code, options) => {
    const dispatcher = agent.compose(client.interceptor());
    const url = `${service.origin}/a`;
    for (let i = 0; i < CALLS; i += 1)
      expect(await rejection(request(url, { ...options, dispatcher }))).toHaveProperty('code', code);
    expect([service.log.length, await client.state()]).toEqual([0, []]);
    const { statusCode, body } = await request(url, { dispatcher });
    expect([statusCode, await body.text()]).toEqual([200, '{}']);
  });

  test('by fetch: a header that it may not send rejects unchanged, and counts for nothing', async () => {
    const init = { headers: { 'transfer-encoding': 'chunked' } };
    const error = { message: 'fetch failed', cause: { code: 'UND_ERR_INVALID_ARG' } };
    for (let i = 0; i < CALLS; i += 1) expect(await rejection(client.fetch('/a', init))).toMatchObject(error);
    expect([service.log.length, await client.state()]).toEqual([0, []]);
    expect((await client.fetch('/a')).status).toBe(200);
  });
});

describe('an error that the function of run throws', () => {
  const served = async () => new Response('ok');
  const throwing = (error: Error, before: () => unknown = () => {}) => {
    const send = async (): Promise<never> => {
      send.attempts += 1;
      await before();
      throw error;
    };
    send.attempts = 0;
    return send;
  };
  const mistake = () => new TypeError("Cannot read properties of undefined (reading 'token')");
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each<[string, Error]>([
    ['a TypeError', mistake()],
    ['a ReferenceError', new ReferenceError('token is not defined')],
    [
      'an error of Node for an argument',
      Object.assign(new TypeError('must be a string'), { code: 'ERR_INVALID_ARG_TYPE' }),
    ],
    [
      'an error of undici for an argument',
      Object.assign(new Error('invalid method'), { code: 'UND_ERR_INVALID_ARG' }),
    ],
  ])('%s before any I/O rejects unchanged, and counts for nothing', async (_, error) => {
    const client = up.client({ limits });
    const send = throwing(error);
    for (let i = 0; i < CALLS; i += 1) expect(await rejection(client.run({ url: '/a' }, send))).toBe(error);
    expect([send.attempts, await client.state()]).toEqual([CALLS, []]);
    expect((await client.run({ url: '/a' }, served)).status).toBe(200);
  });

  test('a TypeError after I/O is no overload and is not repeated, and the permits stay taken', async () => {
    const client = up.client({
      limits: { requests: tokenBucket({ capacity: CALLS, refill: 1, every: '1h' }) },
    });
    const error = mistake();
    const send = throwing(error, () => new Promise((done) => setImmediate(done)));
    for (let i = 0; i < CALLS; i += 1) expect(await rejection(client.run({ url: '/a' }, send))).toBe(error);
    expect([send.attempts, await client.state()]).toEqual([CALLS, []]);
    // The request may have been sent before.
    expect(isRateLimitExceededError(await rejection(client.run({ url: '/a' }, served)))).toBe(true);
  });

  test.each<[string, Error]>([
    ['a cause', new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') })],
    ['a code of Bun', Object.assign(new TypeError('Unable to connect'), { code: 'ConnectionRefused' })],
    ['a message of Deno', new TypeError('error sending request for url (https://api.example.com/a)')],
  ])('a TypeError of fetch with %s is a lost connection: repeated, and counted', async (_, error) => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const client = up.client({ retry: { attempts: 2 }, timeout: '1m' });
    const send = throwing(error);
    const calls = (async () => {
      for (let i = 0; i < 3; i += 1) expect(await rejection(client.run({ url: '/a' }, send))).toBe(error);
    })();
    await up.clock.advance('2s');
    await calls;
    expect(send.attempts).toBe(6);
    expect(await client.state()).toMatchObject([{ scope: 'upstream', kind: 'overload', stored: false }]);
  });

  test('is known to withCost as a call that was not sent after all', async () => {
    const client = up.client({ limits });
    const events: boolean[] = [];
    const call = () => client.run({ url: '/a' }, throwing(mistake()));
    await rejection(
      client.withCost(1, Promise.resolve(undefined), call, (isSent) => void events.push(isSent)),
    );
    expect(events).toEqual([true, false]);
  });

  test('is not taken for use of the account when a response states its rest', async () => {
    up.latency = 100;
    up.answer = ({ number }) =>
      new Response('ok', number === 1 ? { headers: { ratelimit: '"p";r=5;t=1' } } : {});
    const client = up.client({
      limits: { requests: tokenBucket({ capacity: 10, refill: 1, every: '1h' }) },
      timeout: 0,
    });
    const first = client.fetch('/a');
    await up.clock.advance(1);
    for (let i = 0; i < 3; i += 1) await rejection(client.run({ url: '/b' }, throwing(mistake())));
    await up.clock.advance(100);
    await first;
    up.latency = 0;
    // Of the nine permits by our count five are left.
    for (let i = 0; i < 9; i += 1) await rejection(client.fetch('/a'));
    expect(up.log).toHaveLength(1 + 5);
  });
});
