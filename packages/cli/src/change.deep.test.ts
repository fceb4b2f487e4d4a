import { PassThrough } from 'node:stream';
import { fixedWindow, RateLimiter, redisStore } from '@sluice/core';
import { Redis } from 'ioredis';
import { eventually } from '../../../tests/support/eventually.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import type { Context } from './command.js';
import { reset } from './commands/block.js';
import { Notes } from './notes.js';
import { Output } from './output.js';

// The prompt in a terminal. Everything else is in tests/integration/cli.

async function resetAnswering(answer: string) {
  const [store, client] = [redisStore(redisUrl()), new Redis(redisUrl())];
  const name = uniqueName('reset');
  const policy = fixedWindow({ limit: 5, window: '1h' });
  const limiter = new RateLimiter({ name, policy, store, deadline: '10s' });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new PassThrough({ encoding: 'utf8' });
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const stdout = { isTTY: true, columns: 60, write };
  const context = {
    ...{ store, client, address: 'Redis', deadline: 10_000, close: async () => {} },
    ...{ output: new Output(stdout, false, {}, false), notes: new Notes(stderr, {}), stdin, stderr, env: {} },
    ...{ signal: new AbortController().signal, ask: <T>(question: Promise<T>) => question },
  } as unknown as Context;
  try {
    await limiter.consume('k');
    await eventually(async () =>
      (await store.fleet.read('definitions')).some(({ text }) => text.includes(name)),
    );
    stdin.end(`${answer}\n`);
    const code = await reset.run(context, ['k'], { limiter: name });
    return { code, written, question: stderr.read() as string, left: (await limiter.peek('k')).remaining };
  } finally {
    await Promise.all([limiter.close(), store.close()]);
    client.disconnect();
  }
}

test.each([
  ['y', 0, 5],
  ['Yes', 0, 5],
  ['', 1, 4],
  ['n', 1, 4],
  ['yesterday', 1, 4],
])('the answer %j to the prompt exits with code %d and leaves %d permits', async (answer, code, left) => {
  const run = await resetAnswering(answer);
  expect(run).toMatchObject({
    code,
    left,
    question: expect.stringMatching(/Reset 'k' at 'reset-.*'\? \[y\/N\] /),
  });
  expect(run.written).toContain('\u001b[1m'); // bold text: stdout is a terminal
  if (code === 1) expect(run.written).toContain('Nothing was changed.');
  else expect(run.written).toMatch(/'k' is reset at/);
});
