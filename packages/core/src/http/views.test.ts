import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { NodeResponseView } from './views.js';

const servers: Server[] = [];
afterEach(async () => {
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
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests));
  while (responses.length < requests) await new Promise(setImmediate);
  return { responses, socket };
}

const told = (responses: readonly ServerResponse[]) => {
  const over: boolean[] = [];
  responses.forEach((response, i) => {
    new NodeResponseView(response).whenOver((complete) => {
      over[i] = complete;
    });
  });
  return over;
};

test('responses are complete one after the other, and a later listener is called at once', async () => {
  const { responses } = await pipelined(2);
  const over = told(responses);
  for (const response of responses) response.end('answer');
  while (over.length < 2) await new Promise(setImmediate);
  expect(over).toEqual([true, true]);
  const late = told(responses);
  while (late.length < 2) await new Promise(setImmediate);
  expect(late).toEqual([true, true]);
});

test('a broken connection also ends the responses behind the first one', async () => {
  const { responses, socket } = await pipelined(3);
  const over = told(responses);
  socket.destroy();
  while (over.filter((each) => each === false).length < 3) await new Promise(setImmediate);
  responses[1]!.end('nobody hears');
  const late = told(responses);
  while (late.length < 3) await new Promise(setImmediate);
  expect(late).toEqual([false, false, false]);
});

test('many limits on one response are no leak of listeners', () => {
  const raw = new ServerResponse(new IncomingMessage(new Socket()));
  for (let i = 0; i < 100; i += 1) new NodeResponseView(raw).whenOver(() => {});
  const most = Math.max(...raw.eventNames().map((name) => raw.listenerCount(name)));
  expect(most).toBeLessThanOrEqual(3);
});
