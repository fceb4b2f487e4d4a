import { setTimeout as sleep } from 'node:timers/promises';
import { type FailurePolicy, fixedWindow } from '../../../../packages/core/src/index.js';
import { record } from '../../../faults/table.js';
import { type RedisServer, startRedis } from '../../../support/redis/redis-server.js';
import { type Answered, Fleet } from '../fleet.js';
import { aligned, permits } from '../outcome.js';
import type { RaceRun } from '../race-run.js';

// Whole limiters race through an outage. Meanwhile each process counts by itself, so a window may have each process's share of the limit
// in addition to the permits that Redis counted before or after the outage. Both failure policies live through the same outage.

const PROCESSES = 8;
const LIMIT = 16;
const WINDOW_MS = 2_000;
const KEYS = 3;

let redis: RedisServer;
let fleet: Fleet;
const table: string[][] = [
  ['most permits of a window, in limits', 'calls', 'decided by Redis', 'partly', 'not at all', 'all in all'],
];

beforeAll(async () => {
  redis = await startRedis();
  fleet = await Fleet.start(PROCESSES, { kind: 'server', url: redis.url });
}, 120_000);

afterAll(async () => {
  await fleet?.stop();
  await redis?.stop();
  process.stdout.write(`\n${aligned(table)}\n\n`);
});

const OUTAGES = {
  frozen: [() => redis.freeze(), () => redis.thaw()],
  'killed, back with nothing': [() => redis.kill(), () => redis.restart()],
} as const;

const FAILURE_POLICIES = [
  { failurePolicy: 'local', share: 1 },
  { failurePolicy: { local: { share: 1 / PROCESSES } }, share: 1 / PROCESSES },
] as const satisfies readonly { readonly failurePolicy: FailurePolicy; readonly share: number }[];

/** The policies of the limiters with each failure policy. */
const POLICIES = [
  fixedWindow({ limit: LIMIT, window: WINDOW_MS, align: 'clock' }),
  fixedWindow({ limit: LIMIT, window: '1h' }),
];
/** The keys with each failure policy; those of the hour are last. */
const KEYS_OF_EACH = POLICIES.length * KEYS;

describe.each(Object.keys(OUTAGES) as (keyof typeof OUTAGES)[])('while Redis is %s', (outage) => {
  let calls = 0;
  let answers: readonly Answered[] = [];

  beforeAll(async () => {
    const [begin, end] = OUTAGES[outage];
    const raceRun: RaceRun = {
      kind: 'decide',
      name: `outage-${outage.length}`,
      policies: FAILURE_POLICIES.flatMap(() => POLICIES),
      keys: KEYS,
      inFlight: 8,
      failurePolicies: FAILURE_POLICIES.flatMap(({ failurePolicy }) => POLICIES.map(() => failurePolicy)),
    };
    ({ calls, answers } = await fleet.run(raceRun, async () => {
      await sleep(2 * WINDOW_MS);
      await begin();
      await sleep(3 * WINDOW_MS);
      await end();
      await sleep(5 * WINDOW_MS); // by then every process has reconnected
    }));
  }, 120_000);

  test.each(FAILURE_POLICIES)(
    'processes that decide by $failurePolicy admit no more than their shares',
    ({ share, failurePolicy }) => {
      const first = FAILURE_POLICIES.findIndex((one) => one.failurePolicy === failurePolicy) * KEYS_OF_EACH;
      const own = answers
        .filter(({ key }) => key >= first && key < first + KEYS_OF_EACH)
        .map((answer) => ({ ...answer, key: answer.key - first }));
      const byWindow = new Map<string, Answered[]>();
      for (const answer of own) {
        const window = `${answer.key}/${windowOf(answer)}`;
        const calls = byWindow.get(window);
        if (calls === undefined) byWindow.set(window, [answer]);
        else calls.push(answer);
      }
      const windows = [...byWindow.values()].map((calls) => ({
        hour: calls[0]!.key >= KEYS,
        degraded: calls.filter(({ degraded }) => degraded).length / calls.length,
        limits: permits(calls.filter(({ allowed }) => allowed)) / LIMIT,
      }));
      const most = (which: (window: (typeof windows)[0]) => boolean) =>
        Math.max(...windows.filter(which).map(({ limits }) => limits));
      const whole = most(({ degraded }) => degraded === 0);
      const partly = most(({ degraded, hour }) => !hour && degraded > 0 && degraded < 1);
      const none = most(({ degraded }) => degraded === 1);
      const hour = most((window) => window.hour);
      table.push([
        `${outage}, ${share === 1 ? 'the whole limit each' : 'an eighth each'}`,
        String(calls),
        ...[whole, partly, none, hour].map((limits) => limits.toFixed(1)),
      ]);

      const alone = PROCESSES * share;
      const forgotten = outage === 'frozen' ? 0 : 1;
      expect(whole).toBeLessThanOrEqual(1);
      expect(none).toBeLessThanOrEqual(alone);
      expect(partly).toBeLessThanOrEqual(alone + 1 + forgotten);
      expect(hour).toBeLessThanOrEqual(alone + 1 + forgotten);
      // The run had all kinds of windows: filled by Redis before and after, and by processes alone. On a busy machine not all run in one.
      expect(whole).toBeGreaterThan(0.9);
      expect(none).toBeGreaterThan(0.4 * alone);
      expect(hour).toBeGreaterThan(0.9 * (0.4 * alone + 1));
      // Redis decides again at the end, also if it was stalled for the last of the calls.
      expect(own.slice(-Math.ceil(own.length / 20)).some(({ degraded }) => !degraded)).toBe(true);
      record({
        ...{
          group: 'race of eight processes',
          fault: `\`local\`, ${share === 1 ? 'the whole limit' : 'an eighth of it'} each: ${outage}`,
        },
        seen: `${own.length} decisions, ${own.filter((answer) => answer.degraded).length} by the failure policy`,
        counted: `${none.toFixed(1)} limits in a window of the outage, ${partly.toFixed(1)} where it began or ended`,
      });
    },
  );
});

/** The window, named by its end: a decision is a little older than its answer, and clocks agree to the millisecond. */
function windowOf({ key, moment, detail }: Answered): string {
  if (key >= KEYS) return 'the hour';
  return String(Math.round((moment + detail) / 1000 / WINDOW_MS));
}
