import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { readProperty } from '@sluice/core/internal';
import { cookiesOf, parseCookies } from './cookies.js';
import { NodeResponseView, type RequestView } from './views.js';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

/** A server that returns its responses, and several requests to it on one connection. */
async function pipelined(requests: number) {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => void responses.push(response));
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests));
  while (responses.length < requests) await new Promise(setImmediate);
  return { responses, socket };
}

const outcomesOf = (responses: readonly ServerResponse[]) => {
  const over: boolean[] = [];
  responses.forEach((response, i) => {
    new NodeResponseView(response).whenOver((complete) => {
      over[i] = complete;
    });
  });
  return over;
};

test('pipelined responses complete in order, and a later listener is called at once', async () => {
  const { responses } = await pipelined(2);
  const over = outcomesOf(responses);
  for (const response of responses) response.end('answer');
  while (over.length < 2) await new Promise(setImmediate);
  expect(over).toEqual([true, true]);
  const late = outcomesOf(responses);
  while (late.length < 2) await new Promise(setImmediate);
  expect(late).toEqual([true, true]);
});

test('a broken connection also ends the responses queued behind the first one', async () => {
  const { responses, socket } = await pipelined(3);
  const over = outcomesOf(responses);
  socket.destroy();
  while (over.filter((each) => each === false).length < 3) await new Promise(setImmediate);
  responses[1]!.end('too late');
  const late = outcomesOf(responses);
  while (late.length < 3) await new Promise(setImmediate);
  expect(late).toEqual([false, false, false]);
});

test('many limits on one response do not leak listeners', () => {
  const raw = new ServerResponse(new IncomingMessage(new Socket()));
  for (let i = 0; i < 100; i += 1) new NodeResponseView(raw).whenOver(() => {});
  const most = Math.max(...raw.eventNames().map((name) => raw.listenerCount(name)));
  expect(most).toBeLessThanOrEqual(3);
});

describe('cookies', () => {
  test.each([
    ['a=1; b=2', { a: '1', b: '2' }],
    [' a = 1 ;b\t=\t2', { a: '1', b: '2' }],
    ['a=1; a=2', { a: '1' }],
    ['a="x y"; b="; c=""', { a: 'x y', b: '', c: '' }],
    ['a=%E2%82%AC; b=%zz; c=%ff', { a: '€', b: '%zz', c: '%ff' }],
    ['a=b=c; d; =e; f=', { a: 'b=c', '': 'e', f: '' }],
    ['', {}],
    [';;=;', { '': '' }],
  ])('%j is parsed like the package cookie does', (header, cookies) => {
    expect({ ...parseCookies(header) }).toEqual(cookies);
  });

  test('a cookie named __proto__ is an ordinary cookie, and does not change the prototype', () => {
    const cookies = parseCookies('__proto__=x; constructor=y');
    expect(Object.entries(cookies)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(readProperty(parseCookies('a=1'), '__proto__')).toBeUndefined();
  });

  test('at most 300 cookies are read, and a long header takes linear time', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `c${i}=${i}`).join(';');
    expect(Object.keys(parseCookies(many))).toHaveLength(300);
    expect(parseCookies(`a=${' \t'.repeat(500_000)}x${' '.repeat(500_000)}`).a).toMatch(/^x$/);
  });

  test('parsed cookies take precedence, and two Cookie headers are merged', () => {
    const view = { headers: { cookie: ['a=1', 'b=2'] } } as unknown as RequestView;
    expect(cookiesOf(view)).toMatchObject({ a: '1', b: '2' });
    expect(cookiesOf({ ...view, cookies: { a: 'parsed' } })).toEqual({ a: 'parsed' });
    expect(cookiesOf({ ...view, headers: undefined })).toBeUndefined();
  });
});
