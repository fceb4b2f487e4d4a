import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { programEnv } from '../program-env.js';
import { uniqueName } from '../redis-url.js';
import { publish, withLock } from './lock.js';
import { startRedis } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';
import { type ClientOptions, testClient } from './test-client.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function client(url: string, options: ClientOptions = {}): Redis {
  const redis = testClient(url, {
    maxRetriesPerRequest: 0,
    retryStrategy: () => 20,
    ...options,
  });
  closers.push(() => redis.disconnect());
  return redis;
}

async function server(args: string[] = []) {
  const redis = await startRedis({ args });
  closers.push(() => redis.stop());
  return redis;
}

async function bareProxy() {
  const proxy = await TcpProxy.start(process.env.SLUICE_TEST_REDIS_URL!);
  closers.push(() => proxy.close());
  return proxy;
}

async function proxied() {
  const proxy = await bareProxy();
  return {
    proxy,
    redis: client(proxy.url, { maxRetriesPerRequest: null, autoResendUnfulfilledCommands: false }),
  };
}

const key = () => uniqueName('support');

/** A call, and whether it was answered already. */
function watched<T>(answer: Promise<T>) {
  let answered = false;
  const settled = () => {
    answered = true;
  };
  answer.then(settled, settled);
  return { answer, isAnswered: () => answered };
}

describe('a Redis for the tests', () => {
  test('the whole run shares one, which runs scripts', async () => {
    const redis = client(process.env.SLUICE_TEST_REDIS_URL!);
    expect(await redis.eval("return {redis.call('TIME')[1] ~= nil, 7}", 0)).toEqual([1, 7]);
  });

  test('an own server accepts arguments, and stores nothing on disk', async () => {
    const { url, port } = await server(['--maxmemory', '64mb']);
    const redis = client(url);
    expect(url).toBe(`redis://127.0.0.1:${port}`);
    const setting = async (name: string) => JSON.stringify(await redis.call('CONFIG', 'GET', name));
    expect(await setting('maxmemory')).toContain('67108864');
    expect(await setting('save')).toContain('""');
    expect(await setting('bind')).toContain('"127.0.0.1"');
  });

  test('freeze leaves calls unanswered until thaw', async () => {
    const own = await server();
    const redis = client(own.url);
    await redis.ping();
    await own.freeze();
    const { isAnswered, answer } = watched(redis.ping());
    await sleep(200);
    expect(isAnswered()).toBe(false);
    await own.thaw();
    expect(await answer).toBe('PONG');
  });

  test('a killed and restarted server is empty, at the same address', async () => {
    const own = await server();
    const { pid } = own;
    await client(own.url).set('a', '1');
    await own.kill('SIGKILL');
    await expect(client(own.url, { retryStrategy: () => null }).ping()).rejects.toThrow();
    await own.restart();
    expect(own.pid).not.toBe(pid);
    expect(await client(own.url).get('a')).toBeNull();
  });

  test('stop ends a frozen server, and does nothing the second time', async () => {
    const own = await startRedis();
    await own.freeze();
    await own.stop();
    await own.stop();
    expect(() => process.kill(own.pid, 0)).toThrow('ESRCH');
  });

  test('a server ends with the process that started it, even by kill -9', async () => {
    const script = `require('esbuild-register/dist/node').register();
      require(${JSON.stringify(join(__dirname, 'redis-server.ts'))}).startRedis().then((redis) => console.log(redis.pid))`;
    const owner = spawn(process.execPath, ['-e', `${script}; setInterval(() => {}, 1000)`], {
      env: programEnv,
    });
    const [line] = (await once(owner.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    process.kill(pid, 0);
    owner.kill('SIGKILL');
    await expect(
      (async () => {
        for (let i = 0; i < 200; i += 1) {
          process.kill(pid, 0);
          await sleep(25);
        }
      })(),
    ).rejects.toThrow('ESRCH');
  });
});

describe('a network with faults', () => {
  test('delay delays replies, and pass forwards them at once', async () => {
    const { proxy, redis } = await proxied();
    await redis.ping();
    proxy.delay(100);
    const start = performance.now();
    await redis.ping();
    expect(performance.now() - start).toBeGreaterThan(95);
    proxy.pass();
    expect(await redis.ping()).toBe('PONG');
  });

  test('blackhole forwards nothing without closing the connection, and delivers it after pass', async () => {
    const { proxy, redis } = await proxied();
    const name = key();
    await redis.set(name, '1', 'PX', 10_000);
    proxy.blackhole();
    const { isAnswered, answer } = watched(redis.incr(name));
    await sleep(200);
    expect([isAnswered(), redis.status]).toEqual([false, 'ready']);
    expect(await client(process.env.SLUICE_TEST_REDIS_URL!).get(name)).toBe('1');
    proxy.pass();
    expect(await answer).toBe(2);
  });

  test('resetNextReply loses the reply of a command that Redis has run', async () => {
    const proxy = await bareProxy();
    const redis = client(proxy.url); // rejects unanswered calls when its connection ends
    const name = key();
    await redis.set(name, '1', 'PX', 10_000);
    proxy.resetNextReply();
    await expect(redis.incr(name)).rejects.toThrow();
    expect(proxy.lostReplies).toBe(1);
    expect(await redis.get(name)).toBe('2');
  });

  test('a reply can end in the middle', async () => {
    const proxy = await bareProxy();
    const socket = connect(proxy.port, '127.0.0.1');
    closers.push(() => socket.destroy());
    // Not `once` of node:events: some systems report an error before the end, and it would reject.
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    let came = '';
    socket.on('data', (data) => {
      came += data;
    });
    proxy.resetNextReply(3);
    socket.write('PING\r\n');
    await ended;
    expect(came).toBe('+PO');
  });

  test('resetEvery loses one reply of n on any connection', async () => {
    const proxy = await bareProxy();
    const ask = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(proxy.port, '127.0.0.1');
        const answer = (came: boolean) => {
          socket.destroy();
          resolve(came);
        };
        socket.once('error', () => answer(false));
        socket.once('data', () => answer(true));
        socket.write('PING\r\n');
      });
    proxy.resetEvery(3);
    const came = [];
    for (let i = 0; i < 7; i += 1) came.push(await ask());
    expect(came).toEqual([true, true, false, true, true, false, true]);
    expect(proxy.lostReplies).toBe(2);
    proxy.resetEvery(0);
    for (let i = 0; i < 4; i += 1) expect(await ask()).toBe(true);
  });

  test('replies with random delays keep their order', async () => {
    const { proxy, redis } = await proxied();
    const name = key();
    await redis.set(name, '0', 'PX', 10_000);
    proxy.delay(0, 40);
    const replies: Promise<number>[] = [];
    for (let i = 0; i < 10; i += 1) {
      replies.push(redis.incr(name));
      await sleep(3);
    }
    expect(await Promise.all(replies)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe('the lock under which Redis is obtained', () => {
  test('has one holder at a time, and is taken from a crashed holder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-lock-'));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const lock = join(folder, 'lock');
    await mkdir(lock);
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lock, longAgo, longAgo);

    let inside = 0;
    const turn = () =>
      withLock(lock, async () => {
        inside += 1;
        expect(inside).toBe(1);
        await sleep(20);
        inside -= 1;
      });
    await turn(); // the only one that takes the lock of the crashed holder: two of them may both get it
    await Promise.all([turn(), turn(), turn()]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('two processes that hold it publish one folder, and leave nothing else behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-lock-'));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    for (const name of ['first', 'second']) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'made by'), name);
      await publish(join(folder, name), join(folder, 'made'));
    }
    expect(await readdir(folder)).toEqual(['made']);
    expect(await readFile(join(folder, 'made/made by'), 'utf8')).toBe('first');
    await expect(publish(join(folder, 'none'), join(folder, 'other'))).rejects.toThrow('ENOENT');
  });
});
