import { slidingLog } from '@sluice/core';
import { bundle } from '../../support/bundle.js';
import type { FleetRun, VirtualFleetOptions } from '../../support/outgoing/virtual-fleet.js';
import { run } from '../../support/run.js';

jest.setTimeout(300_000);

const CALLS = 10_000;
const RATE = 50;

let program: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  program = await bundle(require.resolve('../../support/outgoing/fleet-program.ts'));
});
afterAll(() => program.remove());

/** In a process of its own: a million steps take long beside what other test files have left in a worker of Jest. */
async function runFleet(options: VirtualFleetOptions): Promise<FleetRun> {
  const { ok, output } = await run(process.execPath, [program.file, JSON.stringify(options)], {
    timeoutMs: 280_000,
  });
  if (!ok) throw new Error(output);
  return JSON.parse(output);
}

const runCalls = (options: Partial<VirtualFleetOptions>): Promise<FleetRun> =>
  runFleet({
    processes: 4,
    calls: CALLS,
    rate: RATE,
    jitter: 3,
    limits: { requests: slidingLog({ limit: RATE, window: '1s' }) },
    ...options,
  });

test.each([
  ['alone', {}],
  ['with replies after 200 ms', { latency: 200 }],
])(
  '10,000 calls of four processes, %s: none is refused, and they take at most 1.025 of the ideal time',
  async (_, options) => {
    const { served, refused, ideal } = await runCalls(options);
    expect({ served, refused }).toEqual({ served: CALLS, refused: 0 });
    expect(ideal).toBeLessThanOrEqual(1.025);
  },
);

test('few calls are refused if timers and connections are up to 40 ms late: the margin grows with the delay', async () => {
  const runs: FleetRun[] = [];
  for (const seed of [1, 2, 3, 4]) runs.push(await runCalls({ calls: 2000, jitter: 40, seed }));
  expect(runs.map(({ served }) => served)).toEqual([2000, 2000, 2000, 2000]);
  // Of one seed at most six. With a margin of 5 ms twelve of each are refused, and the calls take 1.15 of the ideal time.
  expect(runs.reduce((sum, { refused }) => sum + refused, 0)).toBeLessThanOrEqual(20);
  expect(Math.max(...runs.map(({ ideal }) => ideal))).toBeLessThanOrEqual(1.12);
});

test('at most three calls in a thousand are refused if processes are blocked for 60 ms now and then', async () => {
  const { served, refused, ideal } = await runCalls({ latency: 200, stalls: 0.004 });
  expect(served).toBe(CALLS);
  // Without a gap between the calls ten times as many are: each stall makes a burst that comes again in the windows after it.
  expect(refused).toBeLessThanOrEqual(0.003 * CALLS);
  expect(ideal).toBeLessThanOrEqual(1.07);
});

test('while others use a tenth of the limit, at most one call in a thousand is refused', async () => {
  const { served, refused, ideal } = await runCalls({ latency: 200, others: 0.1 });
  expect(served).toBe(CALLS);
  expect(refused).toBeLessThanOrEqual(CALLS / 1000);
  expect(ideal).toBeLessThanOrEqual(1.03);
});

test('when the others have stopped, the whole limit comes back', async () => {
  const { arrivals } = await runFleet({
    processes: 2,
    calls: 6000,
    rate: RATE,
    limits: { requests: slidingLog({ limit: RATE, window: '1s' }) },
    others: 0.2,
    othersUntil: 20_000,
  });
  const in5s = arrivals.filter(({ at, isServed }) => isServed && at >= 90_000 && at < 95_000);
  expect(in5s.length).toBeGreaterThan(4.8 * RATE);
});
