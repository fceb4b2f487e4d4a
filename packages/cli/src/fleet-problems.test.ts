import type { FleetProcess, UsageReport } from '@sluice/fleet';
import { fleetProblems } from './fleet-problems.js';

const processOf = (host: string, pid: number, more: object = {}) =>
  ({
    ...{ process: `${host}-${pid}`, host, pid, version: '0.1.0', age: 5_000, limiters: [] },
    ...more,
  }) as unknown as FleetProcess;
const counted = (processes: readonly FleetProcess[], limiters: readonly object[] = []) =>
  ({ processes: processes.map((entry) => ({ ...entry, age: 3_000 })), limiters }) as unknown as UsageReport;

const one = processOf('web-1', 71);
const calls = (decisions: object) => {
  const none = { allowed: [], denied: [], canceled: [], error: [], degraded: [] };
  return counted([one], [{ limiter: 'login', decisions: { ...none, ...decisions } }]);
};
const withRules = (rules: object) =>
  processOf('web-9', 1, { rules: [{ name: 'rules', source: 'store', ...rules }] });
const withBucket = (capacity: number, kind = 'limiter') => {
  const policy = { algorithm: 'tokenBucket', capacity, refill: 1, every: 1_000 };
  return processOf('web-1', capacity, {
    limiters: [{ kind, name: 'api', several: false, policies: { api: policy } }],
  });
};

const quiet = { processes: [one, processOf('web-2', 72)], usage: counted([one]), roundTrip: 412 };
const linesOf = (seen: Partial<typeof quiet>) =>
  fleetProblems({ ...quiet, ...seen }).map(
    ({ level, id, what, next }) => `${level} ${id}: ${what} → ${next}`,
  );

test('a fleet without trouble has no problems', () => {
  expect(linesOf({})).toEqual([]);
});

test.each([
  [
    { roundTrip: 150_000 },
    'warning store-slow: An answer takes 150 ms from here. Limiters wait 100 ms unless they have another deadline. → doctor',
  ],
  [
    { usage: calls({ degraded: [7, 0, 0, 0, 0, 0, 0, 1] }) },
    'warning calls-degraded: In the last minute the failure policy decided 1 call of login: a process got no answer from its store. → doctor',
  ],
  [
    { usage: calls({ error: [2, 1] }) },
    'warning calls-failed: In the last minute 3 calls of login failed with an error. → doctor',
  ],
  [
    { processes: [one, withRules({ version: 2, problem: 'limits.yaml:3:1: no such field' })] },
    "warning rules-refused: 1 of 1 process with the rules 'rules' cannot load the latest version; web-9:1: limits.yaml:3:1: no such field → rules rules",
  ],
  [
    {
      processes: [withRules({ version: 1, fingerprint: 'a' }), withRules({ version: 2, fingerprint: 'b' })],
    },
    "note rules-mixed: Processes run different texts of the rules 'rules': versions 1 and 2 → rules rules",
  ],
  [
    { processes: [one, processOf('web-3', 9, { age: 95_000 })] },
    'note processes-silent: 1 of 2 processes has published nothing for 1 min 35 s: web-3:9. It has ended, or gets no answer from the store, so that its failure policy decides. → ls --processes',
  ],
  [
    { processes: [one, processOf('web-3', 9, { version: '0.2.0' })] },
    'note versions-mixed: Processes run the versions 0.1.0 and 0.2.0 of Sluice. During an update that is normal. → ls --processes',
  ],
  [
    { processes: [withBucket(10), withBucket(20)] },
    'note limits-mixed: Processes have different numbers for api: 10 at once, 1 more every 1 s and 20 at once, 1 more every 1 s. During an update that is normal. → ls',
  ],
])('trouble is named, with the command that shows more: %#', (seen, line) => {
  expect(linesOf(seen)).toEqual([line]);
});

test('numbers that depend on the call are no difference between processes', () => {
  expect(linesOf({ processes: [withBucket(10, 'per-request'), withBucket(20, 'per-request')] })).toEqual([]);
});

test('a process that counted calls lately is not silent', () => {
  const old = processOf('web-3', 9, { age: 95_000 });
  expect(linesOf({ processes: [old], usage: counted([old]) })).toEqual([]);
});

test('warnings come before notes', () => {
  const processes = [processOf('web-3', 9, { version: '0.2.0' }), withRules({ problem: 'p' })];
  const levels = fleetProblems({ ...quiet, roundTrip: 150_000, processes }).map(({ level }) => level);
  expect(levels).toEqual(['warning', 'warning', 'note']);
});
