import { fork } from 'node:child_process';
import { bundle } from '../../support/bundle.js';
import { FakeUpstream } from '../../support/outgoing/fake-upstream.js';
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
    let text = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (data) => {
        text += data;
      });
    }
    const code = await new Promise((done) => child.on('close', done));
    if (code !== 0) throw new Error(text);
    return JSON.parse(text) as Record<string, number>;
  });
  const sums: Record<string, number> = {};
  for (const statuses of await Promise.all(ran)) {
    for (const [status, count] of Object.entries(statuses)) sums[status] = (sums[status] ?? 0) + count;
  }
  return sums;
}

test('eight processes that know nothing of a limit learn it: one pause for all, and every call is served in the end', async () => {
  service = await FakeUpstream.start({ latency: 20 });
  /** A pause of the service, ms: from the reply that states it. */
  const pauses: { readonly from: number; readonly until: number }[] = [];
  service.script = (call, number) => {
    if (number !== 100 && number !== 300) return [200, {}];
    pauses.push({ from: call.at + 20, until: call.at + 20 + 1000 });
    return [429, { 'retry-after': '1' }];
  };
  expect(await run({ calls: 100, width: 8 })).toEqual({ 200: 8 * 100 });
  expect(pauses).toHaveLength(2);
  for (const { from, until } of pauses) {
    // Between the reply and the write of the pause calls may be decided: at most those that are in flight then.
    const stored = from + 250;
    const started = service.log.filter(({ at }) => at > stored && at < until);
    expect(started).toEqual([]);
    const between = service.log.filter(({ at }) => at > from && at <= stored);
    expect(between.length).toBeLessThanOrEqual(PROCESSES * 8 * 3);
    const [probe, ...others] = service.log.filter(({ at }) => at >= until).sort((a, b) => a.at - b.at);
    expect(others.filter(({ at }) => at < probe!.ended)).toEqual([]);
  }
});

test('eight processes that know the limit are refused at most once in a thousand calls', async () => {
  service = await FakeUpstream.start({ limit: 200, window: 1000 });
  expect(await run({ calls: 150, width: 150, perSecond: 200 })).toEqual({ 200: 1200 });
  expect(service.refused).toBeLessThanOrEqual(1 + service.log.length / 200);
});
