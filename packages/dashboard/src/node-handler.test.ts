import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { memoryStore } from '@sluice/core';
import type { Dashboard } from './dashboard.js';
import { dashboard, nodeHandler } from './index.js';
import { Streams } from './streams.js';

const failure = new Error('the disk is gone');
const failing = Object.assign(() => Promise.reject(failure), {
  close: async () => {},
}) as unknown as Dashboard;

/** Serves the page as node:http does, which ignores the promise, and sends one request. */
async function fetchOnce(page: Dashboard, next?: (error: unknown) => string) {
  const handler = nodeHandler(page);
  const done: Promise<void>[] = [];
  const server = createServer((request, response) => {
    done.push(handler(request, response, next && ((error) => response.end(next(error)))));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const received = [answer.status, await answer.text()];
    await Promise.all(done);
    return received;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('without next, an error causes a 500 and a warning, and the promise resolves', async () => {
  const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    expect(await fetchOnce(failing)).toEqual([500, 'Internal Server Error\n']);
    expect(warnings.mock.calls).toEqual([
      [
        expect.stringMatching(/a request failed, so the answer is 500: Error: the disk is gone\n/),
        expect.objectContaining({ code: 'SLUICE_DASHBOARD_FAILED' }),
      ],
    ]);
  } finally {
    warnings.mockRestore();
  }
});

test('with next, the error is passed to next', async () => {
  const next = jest.fn(() => 'next');
  expect(await fetchOnce(failing, next)).toEqual([200, 'next']);
  expect(next.mock.calls).toEqual([[failure]]);
});

test('a client that does not read its stream loses its connection, without a warning', async () => {
  const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const streams = new Streams();
  const page = async () =>
    streams.open((send) => {
      for (let i = 0; i < 5; i += 1) send('a', 'x'.repeat(1_000_000));
      return () => {};
    }, new AbortController().signal);
  try {
    await expect(fetchOnce(Object.assign(page, { close: async () => {} }) as Dashboard)).rejects.toThrow();
    expect(warnings).not.toHaveBeenCalled();
  } finally {
    warnings.mockRestore();
  }
});

test.each([
  ['OPTIONS *', 400],
  ['GET http://', 400],
  ['GET //', 401],
  ['GET //127.0.0.1:99999/', 401],
  ['GET http://127.0.0.1/limits/', 401],
  ['GET http://u:p@127.0.0.1/', 400],
  ['GET http://u@127.0.0.1/limits/', 400],
  ['GET http://:p@127.0.0.1/', 400],
])('%s of a signed-out client gets status %d without a warning', async (line, status) => {
  const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const page = dashboard(memoryStore(), { authorize: () => false });
  const server = createServer(nodeHandler(page));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(warnings).not.toHaveBeenCalled();
  } finally {
    warnings.mockRestore();
    server.closeAllConnections();
    server.close();
    await page.close();
  }
});
