import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import type { Closed, Order } from './messages.js';

// Closing during an outage ends every wait and leaves nothing that keeps the process alive: no timer, no reconnecting socket.

let bundled: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  bundled = await bundle(join(__dirname, 'program.ts'));
});
afterAll(() => bundled.remove());

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const OUTAGES: Record<string, (redis: RedisServer, proxy: TcpProxy) => unknown> = {
  killed: (redis) => redis.kill(),
  frozen: (redis) => redis.freeze(),
  swallowed: (_, proxy) => proxy.blackhole(),
};

describe.each(Object.entries(OUTAGES))('while Redis is %s', (_, begin) => {
  test.each([
    [true, 'last'],
    [true, 'first'],
    [false, 'last'],
    [false, 'first'],
  ] as const)(
    'closing settles every call and ends the process (outage known: %s, store closed %s)',
    async (known, stores) => {
      const redis = await startRedis();
      closers.push(() => redis.stop());
      const proxy = await TcpProxy.start(redis.url);
      closers.push(() => proxy.close());
      const program = fork(bundled.file, [proxy.url], { execArgv: [] });
      closers.push(() => program.kill('SIGKILL'));
      await nextMessage(program);

      await send(program, { order: 'wait' });
      await begin(redis, proxy);
      const exited = new Promise((resolve) => program.once('exit', resolve));
      const closed = (await send(program, { order: 'close', known, stores })) as Closed;

      expect(closed).toMatchObject({ unsettled: 0 });
      expect(closed.outcomes.LimiterClosedError).toBeGreaterThan(5);
      expect(closed.resources.filter((resource) => /Timeout|TCP/.test(resource))).toEqual([]);
      expect(await exited).toBe(0);
    },
  );
});

function send(program: ChildProcess, order: Order): Promise<unknown> {
  const answer = nextMessage(program);
  program.send(order);
  return answer;
}

function nextMessage(program: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    program.once('message', resolve);
    program.once('exit', (code, signal) => reject(new Error(`the program ended (${code ?? signal})`)));
  });
}
