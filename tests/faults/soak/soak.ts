import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../support/bundle.ts';
import { startRedis } from '../../support/redis/redis-server.ts';
import { TcpProxy } from '../../support/redis/tcp-proxy.ts';
import { testClient } from '../../support/redis/test-client.ts';
import { eachFault, type FaultTargets, randomFaults } from './faults.ts';
import type { Order, Remains } from './messages.ts';

export interface Soak {
  /** The remains after a short run with each fault once, and after the run with random faults. */
  readonly before: Remains;
  readonly after: Remains;
  readonly faults: Readonly<Record<string, number>>;
  /** The exit code of the program; undefined if it did not end by itself. */
  readonly exit: number | undefined;
}

/** A user without rights to our keys. */
const GUEST = ['--user', 'guest', 'on', '>secret', '~other:*', '&*', '+@all'];
const EXIT_MS = 15_000;

/** Length of each fault in the first run, ms. It runs every path, so that their code is loaded, and is the base of comparison. */
const SHORT_MS = 300;
const PAUSE_MS = 2_000;

/** @param ms length of the run; @param longest longest fault, ms */
export async function soak(ms: number, longest: number): Promise<Soak> {
  const closers: (() => unknown)[] = [];
  try {
    const redis = await startRedis({ args: GUEST });
    closers.push(() => redis.stop());
    const proxy = await TcpProxy.start(redis.url);
    closers.push(() => proxy.close());
    const admin = testClient(redis.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
    closers.push(() => admin.disconnect());
    const { file, remove } = await bundle(join(__dirname, 'program.ts'));
    closers.push(remove);
    const program = fork(file, [], { serialization: 'advanced', execArgv: ['--expose-gc'] });
    closers.push(() => program.kill('SIGKILL'));
    await nextMessage(program);

    const guestUrl = proxy.url.replace('redis://', 'redis://guest:secret@');
    const live = async <T>(meanwhile: () => Promise<T>): Promise<[Remains, T]> => {
      const remains = nextMessage<Remains>(program);
      remains.catch(() => undefined); // awaited below, unless `meanwhile` fails first
      tell(program, { order: 'live', url: proxy.url, guestUrl });
      const happened = await meanwhile();
      tell(program, { order: 'end' });
      return [await remains, happened];
    };
    const targets: FaultTargets = { redis, proxy, admin };
    const [before] = await live(async () => {
      await sleep(PAUSE_MS);
      await eachFault(targets, SHORT_MS);
    });
    const [after, faults] = await live(() => randomFaults(targets, ms, longest));
    const exited = new Promise<number | undefined>((resolve) =>
      program.once('exit', (code) => resolve(code ?? undefined)),
    );
    program.disconnect();
    const exit = await Promise.race([exited, sleep(EXIT_MS, undefined, { ref: false })]);
    return { before, after, faults, exit };
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

const tell = (program: ChildProcess, order: Order): unknown => program.send(order);

function nextMessage<T>(program: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    program.once('message', (message) => resolve(message as T));
    program.once('exit', (code, signal) => reject(new Error(`the program ended (${code ?? signal})`)));
  });
}
