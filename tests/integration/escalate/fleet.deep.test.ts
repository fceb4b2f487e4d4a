import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { bundle } from '../../support/bundle.js';
import { programEnv } from '../../support/program-env.js';
import { startRedisCluster } from '../../support/redis/redis-cluster.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { AFTER, open, type Work } from './escalating.js';
import type { Round } from './program.js';

jest.setTimeout(90_000);

let program: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  program = await bundle(require.resolve('./program.ts'));
});
afterAll(() => program.remove());

const KEYS = Array.from({ length: 6 }, (_, i) => `caller-${i}`);

const nextMessage = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code, signal) => reject(new Error(`a process ended (${code ?? signal})`)));
  });

/** Three processes deny each caller at the same time, round after round; between two rounds an operator ends the blocks. */
async function raced(urls: readonly string[]): Promise<void> {
  const work: Work = { urls, limiter: uniqueName('escalating'), keys: KEYS };
  const operator = open(work);
  const children = [1, 2, 3].map(() =>
    fork(program.file, [JSON.stringify(work)], { env: programEnv, execArgv: [] }),
  );
  try {
    await Promise.all(children.map(nextMessage));
    for (const key of KEYS) expect((await operator.limiter.consume(key)).allowed).toBe(true);
    for (const [step, hours] of [
      [1, 1],
      [2, 2],
      [3, 3],
      [3, 3],
    ]) {
      const rounds = children.map((child) => {
        const round = nextMessage(child) as Promise<Round>;
        child.send('go');
        return round;
      });
      const all = await Promise.all(rounds);
      const blocks = all.flatMap((round) => round.blocks).sort();
      expect(blocks).toEqual(KEYS.map((key) => `${key} ${step} ${hours} h`));
      const free = KEYS.map((_, i) => all.reduce((sum, round) => sum + round.free[i]!, 0));
      expect(free).toEqual(KEYS.map(() => AFTER - 1));
      for (const key of KEYS) await operator.limiter.unblock(key);
    }
  } finally {
    await Promise.all(
      children.map((child) => {
        if (child.exitCode !== null || child.signalCode !== null) return undefined;
        const ended = once(child, 'exit');
        child.disconnect();
        return ended;
      }),
    );
    await operator.close();
  }
}

test('three processes on one server escalate each caller once per step', () => raced([redisUrl()]));

test('three processes on a cluster escalate each caller once per step', async () => {
  const cluster = await startRedisCluster();
  try {
    await raced(cluster.addresses.map(({ host, port }) => `redis://${host}:${port}`));
  } finally {
    await cluster.stop();
  }
});
