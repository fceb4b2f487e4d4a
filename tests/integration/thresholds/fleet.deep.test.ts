import { fork } from 'node:child_process';
import { bundle } from '../../support/bundle.js';
import { programEnv } from '../../support/program-env.js';
import { startRedisCluster } from '../../support/redis/redis-cluster.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import type { Work } from './program.js';

jest.setTimeout(90_000);

let program: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  program = await bundle(require.resolve('./program.ts'));
});
afterAll(() => program.remove());

const KEYS = Array.from({ length: 8 }, (_, i) => `customer-${i}`);
const EACH = KEYS.flatMap((key) => ['50%', '80%', '100%'].map((threshold) => `${key} ${threshold}`)).sort();

/** The output of a process, and its exit. */
function started(work: Work): Promise<{ lines: string[]; ended: unknown }> {
  return new Promise((resolve) => {
    const child = fork(program.file, [JSON.stringify(work)], { env: programEnv, execArgv: [], silent: true });
    let text = '';
    child.stdout!.on('data', (data) => {
      text += data;
    });
    child.stderr!.on('data', (data) => {
      text += data;
    });
    child.on('close', (code, signal) => {
      resolve({ lines: text.split('\n').filter((line) => line !== ''), ended: signal ?? code });
    });
  });
}

const fleet = (work: Omit<Work, 'limiter' | 'keys'>, processes: readonly Partial<Work>[]) => {
  const all = { limiter: uniqueName('quota'), keys: KEYS, ...work };
  return Promise.all(processes.map((own) => started({ ...all, ...own })));
};

test('four processes with refunds publish each threshold of each key once', async () => {
  const ran = await fleet({ urls: [redisUrl()], limit: 60 }, [{}, {}, {}, {}]);
  expect(ran.map(({ ended }) => ended)).toEqual([0, 0, 0, 0]);
  expect(ran.flatMap(({ lines }) => lines).sort()).toEqual(EACH);
});

test('four processes with prefetched permits publish each threshold once', async () => {
  const ran = await fleet({ urls: [redisUrl()], limit: 400, prefetch: 20 }, [{}, {}, {}]);
  expect(ran.map(({ ended }) => ended)).toEqual([0, 0, 0]);
  expect(ran.flatMap(({ lines }) => lines).sort()).toEqual(EACH);
});

test('a process that dies before it publishes loses its claims, and no threshold is published twice', async () => {
  const ran = await fleet({ urls: [redisUrl()], limit: 60 }, [{ diesAt: '50%' }, {}, {}]);
  const [died] = ran;
  const lines = ran.flatMap((one) => one.lines);
  expect(new Set(lines).size).toBe(lines.length);
  expect(EACH).toEqual(expect.arrayContaining(lines));
  const missing = EACH.filter((one) => !lines.includes(one));
  expect(missing.length > 0).toBe(died!.ended === 'SIGKILL');
  // It may have claimed the first threshold of several keys at once.
  expect(missing.filter((one) => !one.endsWith(' 50%'))).toEqual([]);
});

test('four processes on a cluster publish each threshold once', async () => {
  const cluster = await startRedisCluster();
  try {
    const urls = cluster.addresses.map(({ host, port }) => `redis://${host}:${port}`);
    const ran = await fleet({ urls, limit: 60 }, [{}, {}, {}]);
    expect(ran.flatMap(({ lines }) => lines).sort()).toEqual(EACH);
  } finally {
    await cluster.stop();
  }
});
