import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, interceptors, request, fetch as undiciFetch } from 'undici';
import { rejection } from '../../../tests/support/rejection.js';
import { type Upstream, upstream } from './index.js';

/** As many as open the circuit. */
const CALLS = 5;
const LEFT = 'the client has left';

async function* uploads(fails = true): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield new Uint8Array(3);
    await new Promise(setImmediate);
    if (fails) throw new Error(LEFT);
  }
}

let server: Server;
let origin: string;
let client: Upstream;
let agent: Agent;
beforeEach(async () => {
  server = createServer((call, response) => {
    if (call.url === '/lost') call.socket.destroy();
    if (call.url !== '/hang') call.resume().once('end', () => response.end('ok'));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = upstream({ name: 'service', origin });
  agent = new Agent();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await client.close();
  await agent.destroy();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const init = (body: unknown) => ({ method: 'POST', body, duplex: 'half' }) as RequestInit;
const webStream = (fails?: boolean) => Readable.toWeb(Readable.from(uploads(fails)));

const byFetch: [string, (path: string, fails?: boolean) => Promise<unknown>][] = [
  ['a web stream', (path, fails) => client.fetch(path, init(webStream(fails)))],
  ['a Request', (path, fails) => client.fetch(new Request(origin + path, init(webStream(fails))))],
  ['a stream of Node', (path, fails) => client.fetch(path, init(Readable.from(uploads(fails))))],
  ['a generator', (path, fails) => client.fetch(path, init(uploads(fails)))],
];
const post = (path: string, body: unknown) =>
  request(origin + path, {
    ...{ method: 'POST', body: body as Readable },
    dispatcher: agent.compose(client.interceptor()),
  });
const byUndici: typeof byFetch = [
  ['a stream of Node by undici', (path, fails) => post(path, Readable.from(uploads(fails)))],
  ['a generator by undici', (path, fails) => post(path, uploads(fails))],
];

describe.each([...byFetch, ...byUndici])('the upload of %s', (_, upload) => {
  test('that fails is no overload of the service', async () => {
    for (let i = 0; i < CALLS; i += 1) {
      const error = (await rejection(upload('/a'))) as Error;
      expect(((error.cause ?? error) as Error).message).toBe(LEFT);
    }
    expect(await client.state()).toEqual([]);
    expect((await client.fetch('/a')).status).toBe(200);
  });

  test('on a connection that is lost is one', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.9); // otherwise the pause may be over at once
    for (let i = 0; i < CALLS; i += 1) expect(await rejection(upload('/lost', false))).toBeDefined();
    expect(await client.state()).toMatchObject([{ scope: 'upstream', reason: 'no response' }]);
  });
});

test('an upload that has failed before the call is no overload of the service', async () => {
  for (let i = 0; i < CALLS; i += 1) {
    const body = Readable.from(uploads());
    await rejection(body.toArray());
    expect(await rejection(client.fetch('/a', init(body)))).toBeDefined();
  }
  expect(await client.state()).toEqual([]);
});

test('a body of another length than its header says is no overload of the service', async () => {
  const call = { method: 'POST', body: 'x', headers: { 'content-length': '100' } };
  const error = { cause: { code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' } };
  for (let i = 0; i < CALLS; i += 1) expect(await rejection(client.fetch('/a', call))).toMatchObject(error);
  expect(await client.state()).toEqual([]);
});

test.each<[string, () => AbortSignal]>([
  [
    'with a reason',
    () => {
      const abort = new AbortController();
      server.once('request', () => abort.abort(new Error(LEFT)));
      return abort.signal;
    },
  ],
  ['by a timeout', () => AbortSignal.timeout(100)],
])('a fetch of undici that its caller aborts %s is sent once, and is no overload', async (_, signal) => {
  let calls = 0;
  server.on('request', () => {
    calls += 1;
  });
  const dispatcher = agent.compose(client.interceptor());
  for (let i = 0; i < CALLS; i += 1)
    expect(
      await rejection(undiciFetch(`${origin}/hang`, { dispatcher, signal: signal() as never })),
    ).toBeDefined();
  expect(await client.state()).toEqual([]);
  expect(calls).toBeLessThanOrEqual(CALLS);
});

test('an abort ends a request that undici itself has begun twice', async () => {
  const retry = interceptors.retry({ maxRetries: 1, minTimeout: 1 });
  const dispatcher = agent.compose(retry, client.interceptor());
  const abort = new AbortController();
  server.once('request', ({ socket }) => {
    socket.destroy();
    server.once('request', () => abort.abort(new Error(LEFT)));
  });
  const { signal } = abort;
  const error = await rejection(undiciFetch(`${origin}/hang`, { dispatcher, signal: signal as never }));
  expect(String(error)).toBe(`Error: ${LEFT}`);
});
