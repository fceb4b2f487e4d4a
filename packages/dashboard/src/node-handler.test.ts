import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dashboard } from './dashboard.js';
import { nodeHandler } from './index.js';

const gone = new Error('the disk is gone');
const failing = Object.assign(() => Promise.reject(gone), { close: async () => {} }) as unknown as Dashboard;

/** Serves the page as node:http does, which ignores the promise, and asks it once. */
async function ask(page: Dashboard, next?: (error: unknown) => string) {
  const handler = nodeHandler(page);
  const done: Promise<void>[] = [];
  const server = createServer((request, response) => {
    done.push(handler(request, response, next && ((error) => response.end(next(error)))));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const said = [answer.status, await answer.text()];
    await Promise.all(done);
    return said;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('without next, an error is a 500 and a warning, and the promise resolves', async () => {
  const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    expect(await ask(failing)).toEqual([500, 'Internal Server Error\n']);
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

test('with next, the error goes there', async () => {
  const next = jest.fn(() => 'next');
  expect(await ask(failing, next)).toEqual([200, 'next']);
  expect(next.mock.calls).toEqual([[gone]]);
});
