import { fork } from 'node:child_process';
import { bundle } from '../../support/bundle.js';
import { FakeUpstream, type ServedCall } from '../../support/outgoing/fake-upstream.js';
import { programEnv } from '../../support/program-env.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import type { Work } from './program.js';

jest.setTimeout(90_000);

let program: Awaited<ReturnType<typeof bundle>>;
let service: FakeUpstream;
beforeAll(async () => {
  program = await bundle(require.resolve('./program.ts'));
});
afterEach(() => service.stop());
afterAll(() => program.remove());

const PROCESSES = 8;

/** The statuses that the callers of all processes got. */
async function run(work: Omit<Work, 'name' | 'origin' | 'url'>): Promise<Record<string, number>> {
  const name = uniqueName('service');
  const args = [JSON.stringify({ name, origin: service.origin, url: redisUrl(), ...work } satisfies Work)];
  const ran = Array.from({ length: PROCESSES }, async () => {
    const child = fork(program.file, args, { env: programEnv, execArgv: [], silent: true });
    const [out, errors] = [child.stdout!, child.stderr!].map((stream) => {
      const chunks: unknown[] = [];
      stream.on('data', (data) => chunks.push(data));
      return chunks;
    });
    const code = await new Promise((done) => child.on('close', done));
    if (code !== 0 || errors!.length > 0) throw new Error(errors!.join(''));
    return JSON.parse(out!.join('')) as Record<string, number>;
  });
  const sums: Record<string, number> = {};
  for (const statuses of await Promise.all(ran)) {
    for (const [status, count] of Object.entries(statuses)) sums[status] = (sums[status] ?? 0) + count;
  }
  return sums;
}

test('eight processes that know nothing of a limit learn it: one pause for all, and every call is served in the end', async () => {
  service = await FakeUpstream.start({ latency: 500 });
  const refusals: ServedCall[] = [];
  service.script = (call, number) => {
    // Not the first calls: a process that starts takes long to send them.
    if (number !== 400 && number !== 600) return [200, {}];
    refusals.push(call);
    return [429, { 'retry-after': '6' }];
  };
  expect(await run({ calls: 100, width: 8 })).toEqual({ 200: 8 * 100 });
  expect(refusals).toHaveLength(2);
  for (const { ended } of refusals) {
    const until = ended + 6000;
    // Until the pause is stored, calls may start: those that were decided before.
    const passed = service.log.filter(({ at }) => at > ended && at < until);
    expect(passed.length).toBeLessThanOrEqual(2 * PROCESSES * 8);
    expect(passed.filter(({ at }) => at > ended + 4000)).toEqual([]);
    const [probe, ...others] = service.log.filter(({ at }) => at >= until).sort((a, b) => a.at - b.at);
    expect(others.filter(({ at }) => at < probe!.ended)).toEqual([]);
  }
});

// How few exactly is tested in virtual time. Here calls arrive late, and together: with half the real limit, a second of them fits beside the next.
test('eight processes that know the limit get each call served once, with less than half the refusals of those that do not know it', async () => {
  const refused: number[] = [];
  for (const limits of [{ perSecond: 100 }, {}]) {
    service = await FakeUpstream.start({ limit: 200, window: 1000 });
    expect(await run({ calls: 100, width: 100, ...limits })).toEqual({ 200: 800 });
    expect(service.log.filter(({ status }) => status === 200)).toHaveLength(800);
    refused.push(service.refused);
    await service.stop();
  }
  const [knowing, learning] = refused;
  expect(knowing).toBeLessThan(learning! / 2);
});
