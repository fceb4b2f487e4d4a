import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixedWindow, tokenBucket } from '@sluice/core';
import type { FleetProcess, UsageReport } from '@sluice/fleet';
import type { Fleet, KnownLimiter } from '../fleet.js';
import { Output } from '../output.js';
import { nextSteps } from './next.js';
import { render } from './render.js';
import type { LimiterState, State } from './state.js';

const process = (host: string, pid: number, more: Partial<FleetProcess> = {}) =>
  ({
    process: `${host}-${pid}`,
    host,
    pid,
    version: '0.1.0',
    age: 5_000,
    limiters: [],
    ...more,
  }) as FleetProcess;
const [one, two, three] = [
  process('web-1', 71, { denials: true }),
  process('web-1', 72),
  process('web-2', 73),
];

const limiter = (name: string, policies: object, more: object = {}): KnownLimiter =>
  ({
    definition: { kind: 'limiter', name, policies, several: false, prefixes: {}, ...more },
    processes: [one, two, three],
  }) as unknown as KnownLimiter;
const login = limiter(
  'login',
  { perMinute: fixedWindow({ limit: 5, window: '1m' }), perDay: fixedWindow({ limit: 50, window: '1d' }) },
  { several: true },
);
const api = limiter('api', { api: tokenBucket({ capacity: 10, refill: 1, every: '1s' }) });

const fleet = (processes: FleetProcess[], limiters: KnownLimiter[] = [login, api]): Fleet => ({
  processes,
  limiters,
});
const counted = (processes: FleetProcess[], more: Partial<UsageReport> = {}) =>
  ({
    processes: processes.map((entry) => ({ ...entry, age: 3_000 })),
    limiters: [],
    refused: [],
    keys: 'plain',
    ...more,
  }) as UsageReport;

const rated = (known: KnownLimiter, allowed: number, denied: number): LimiterState => ({
  name: known.definition.name,
  known,
  processes: known.processes,
  rates: {
    limiter: known.definition.name,
    mode: 'enforce',
    allowed,
    denied,
    errors: 0,
    share: 0,
    keyUse: undefined,
  },
});
const state: State = {
  roundTrip: 412,
  fleet: fleet([one, two, three]),
  usage: counted([one, two, three]),
  limiters: [rated(login, 12.3, 4.1), rated(api, 40, 0)],
  denied: [
    { limiter: 'login', key: 'ann@example.com', count: 214, error: 0 },
    { limiter: 'login', key: '203.0.113.7', count: 31, error: 0 },
  ],
  problems: [],
};

function shown(given: State, columns = 80, flags: { storeFlags?: string } = { storeFlags: '' }): string {
  const output = new Output({ write: () => true, columns }, false, {}, false);
  const context = {
    output,
    address: 'redis://127.0.0.1:6379',
    store: { name: 'redis' },
    redis: {},
    ...flags,
  };
  return render(context as never, given, nextSteps(given, true)).join('\n');
}

/** The screen in docs/cli.md. */
function documented(): string {
  const page = readFileSync(join(__dirname, '../../../../docs/cli.md'), 'utf8');
  return /```sh\nsluice\n```\n\n```text\n([\s\S]*?)\n```/.exec(page)![1]!;
}

test('the state fits 80 columns, and is what docs/cli.md shows', () => {
  expect(shown(state)).toBe(documented());
  expect(
    documented()
      .split('\n')
      .filter((line) => line.length > 80),
  ).toEqual([]);
});

test('a count that is not exact is a range', () => {
  const denied = [{ limiter: 'login', key: 'ann', count: 31, error: 3 }];
  expect(shown({ ...state, denied })).toMatch(/^ {2}login +ann +28–31$/m);
});

test('no line is longer than 60 columns on such a terminal', () => {
  const lines = shown(state, 60).split('\n');
  expect(lines).toContain('    would a call pass now, and why not');
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
});

test('without the option usage the state says how rates are counted, and lists the limiters', () => {
  const text = shown(
    { ...state, usage: counted([]), limiters: [{ ...rated(api, 0, 0), rates: undefined }], denied: [] },
    1_000,
  );
  expect(text).toMatch(/^api: 3 processes on 2 hosts\n {2}10 at once, 1 more every 1 s$/m);
  expect(text).toContain(
    'redisStore({ …, usage: true }) counts them, from ten seconds after the first call.',
  );
  expect(text).not.toContain('Denied most');
  expect(text).toContain('Nothing that the store shows. Failed calls are not counted.');
});

test('figures that lack processes, and digests of keys, are named as such', () => {
  const text = shown({ ...state, usage: counted([one], { keys: 'hash' }) }, 200);
  expect(text).toMatch(
    /^Figures without 2 of 3 processes: .* or a first call less than ten seconds ago\.\nKeys are shown as digests/m,
  );
  // A digest is no key of a limiter.
  expect(text).not.toContain('sluice explain');
});

test('only the first limiters are listed', () => {
  const limiters = Array.from({ length: 9 }, (_, i) =>
    rated(limiter(`l${i}`, { a: fixedWindow({ limit: 1, window: '1s' }) }), 0, 0),
  );
  const text = shown({ ...state, limiters });
  expect(text).toMatch(/^l7: .*\n.*\n… and 1 more limiter: sluice ls$/m);
});

test('an empty store shows the possible reasons', () => {
  const text = shown({ ...state, fleet: fleet([], []), usage: counted([]), limiters: [], denied: [] }, 1_000);
  expect(text).toMatch(/No process has published limiters\. A process publishes its limiters a second after/);
});

test.each([
  ["ann o'neil", "sluice explain login 'ann o'\\''neil'"],
  ['$(reboot)', "sluice explain login '$(reboot)'"],
  ['-n', 'sluice explain -- login -n'],
])('the key %j is one word of the command line', (key, line) => {
  const denied = [{ limiter: 'login', key, count: 1, error: 0 }];
  expect(shown({ ...state, denied }, 200)).toContain(`  ${line}  `);
});

test.each(['x\u001b[2J', 'k'.repeat(81)])('a key that cannot be typed is in no command line: %#', (key) => {
  const denied = [{ limiter: 'login', key, count: 1, error: 0 }];
  expect(shown({ ...state, denied }, 1_000)).not.toContain('sluice explain');
});

test('command lines repeat the options of the store, unless these are too long or have a password', () => {
  expect(shown(state, 200, { storeFlags: '--store sqlite:limits.db ' })).toContain(
    '\n  sluice --store sqlite:limits.db top  ',
  );
  expect(shown(state, 200, {})).toContain('Next, with the options of this command\n  sluice explain');
});

test('warnings come before notes, and decide the first steps', () => {
  const problems = [
    { id: 'store-slow', level: 'warning', what: 'An answer takes 150 ms.', next: 'doctor' },
    {
      id: 'versions-mixed',
      level: 'note',
      what: 'Processes run the versions 1 and 2.',
      next: 'ls --processes',
    },
    { id: 'rules-refused', level: 'warning', what: 'Rules were not taken.', next: 'rules rules' },
  ] as const;
  const text = shown({ ...state, problems, denied: [] }, 200);
  expect(text).toMatch(/^Wrong now\n {2}An answer takes 150 ms\.\n {2}Rules were not taken\.$/m);
  expect(text).toMatch(/^To know\n {2}Processes run the versions/m);
  expect(text.slice(text.indexOf('Next')).match(/(?<=sluice ).+?(?= {2})/g)).toEqual([
    'doctor',
    'rules rules',
    'ls --processes',
    'top',
    'tail',
  ]);
});
