import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bundle } from '../../../tests/support/bundle.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { Gateway } from '../src/gateway.js';
import type { TrialCall } from './trial-process.js';

// The trial: 100 workers in four processes make five calls each, to a gateway that refuses the sixth in any window. Here
// a window is 100 ms and time is real; `simulated.test.ts` has whole seconds.
const LIMIT = 5;
const WINDOW = 100_000;
const CALLS = 500;

let program: Awaited<ReturnType<typeof bundle>>;
let gateway: Gateway;
let server: Awaited<ReturnType<Gateway['listen']>>;
let processes: ChildProcess[] = [];

beforeAll(async () => {
  program = await bundle(join(__dirname, 'trial-process.ts'));
});

afterAll(() => program?.remove());

beforeEach(async () => {
  gateway = new Gateway(LIMIT, WINDOW);
  server = await gateway.listen((request) => Number(request.headers['x-moment']));
  const name = uniqueName('trial');
  processes = [1, 2, 3, 4].map(() => fork(program.file, [name, redisUrl(), server.url], { execArgv: [] }));
  await Promise.all(processes.map(nextMessage));
});

afterEach(async () => {
  await Promise.all(
    processes.splice(0).map((child) => {
      if (child.exitCode !== null || child.signalCode !== null) return undefined;
      child.kill('SIGKILL');
      return once(child, 'exit');
    }),
  );
  await server.close();
});

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code, signal) => reject(new Error(`a process ended (${code ?? signal})`)));
  });
}

/** The calls of each process, in the order in which it made them. */
function trial(way: 'consume' | 'acquire'): Promise<TrialCall[][]> {
  return Promise.all(
    processes.map((child) => {
      const calls = nextMessage(child) as Promise<TrialCall[]>;
      child.send(way);
      return calls;
    }),
  );
}

const count = (calls: readonly TrialCall[], outcome: TrialCall['outcome']) =>
  calls.filter((call) => call.outcome === outcome).length;

test('with consume the limiter denies some calls, and the gateway refuses none', async () => {
  const calls = (await trial('consume')).flat();
  expect(calls).toHaveLength(CALLS);
  expect(gateway.refused).toBe(0);
  expect(count(calls, 'refused by the gateway')).toBe(0);
  expect(count(calls, 'paid')).toBe(gateway.arrivals.length);
  expect(count(calls, 'paid') + count(calls, 'denied by the limiter')).toBe(CALLS);
  expect(count(calls, 'paid')).toBeGreaterThanOrEqual(LIMIT);
  expect(count(calls, 'denied by the limiter')).toBeGreaterThan(0);
}, 120_000);

test('with acquire all calls arrive in order, each at the first possible moment', async () => {
  const byProcess = await trial('acquire');
  const calls = byProcess.flat().sort((a, b) => a.now - b.now);
  expect(count(calls, 'paid')).toBe(CALLS);
  expect([gateway.arrivals.length, gateway.refused]).toEqual([CALLS, 0]);

  // First come, first served: by the order of calls in each process, and by the order of Redis's decisions in all of them.
  for (const inOrder of [...byProcess, calls]) {
    expect(inOrder.map(({ at }) => at)).toEqual(inOrder.map(({ at }) => at).sort((a, b) => a - b));
  }

  // Each call starts at the first moment at which it may.
  for (const [i, { now, at }] of calls.entries()) {
    const free = i < LIMIT ? calls[0]!.now : calls[i - LIMIT]!.at + WINDOW;
    expect(at).toBe(Math.max(now, free));
  }
}, 120_000);
