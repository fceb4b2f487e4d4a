import { fixedWindow } from '../../../packages/core/src/index.js';
import { type PostgresServer, startPostgres } from '../../support/postgres/index.js';
import { contests } from './contests.js';
import { Fleet } from './fleet.js';
import { byKey, idealOf, permits, violations } from './outcome.js';

// The same as race.deep.test.ts, with processes that share a table of Postgres: no algorithm admits more than it promises.

const PROCESSES = 8;
const KEYS = 20;

let server: PostgresServer;
let fleet: Fleet;

beforeAll(async () => {
  server = await startPostgres();
  fleet = await Fleet.start(PROCESSES, { kind: 'postgres', url: server.url });
}, 120_000);

afterAll(async () => {
  await fleet?.stop();
  await server?.stop();
});

test('of the first calls for each key, made by all processes at once, one is admitted; so was the table made', async () => {
  const raceRun = {
    kind: 'consume',
    name: 'first',
    policies: [fixedWindow({ limit: 3, window: '1h' })],
    keys: 300,
    calls: 600,
    inFlight: 100,
  } as const;
  const { asked, answers } = await fleet.run(raceRun);
  expect(answers.length).toBe(asked);
  for (const admitted of byKey(answers.filter(({ allowed }) => allowed)).values())
    expect(permits(admitted)).toBeLessThanOrEqual(3);
}, 120_000);

test.each(contests)(
  '$name in Postgres never admits more than it promises, nor much less',
  async ({ name, policy, judge, ideal }) => {
    const raceRun = {
      kind: 'consume',
      name,
      policies: [policy],
      keys: KEYS,
      calls: 2_000,
      inFlight: 16,
    } as const;
    const { asked, answers } = await fleet.run(raceRun);
    const admitted = answers.filter(({ allowed }) => allowed);
    expect(answers.length).toBe(asked);
    expect(violations(admitted, judge)).toEqual([]);
    expect(byKey(admitted).size).toBe(KEYS);
    expect(permits(admitted) / permits(idealOf(answers, ideal))).toBeGreaterThanOrEqual(0.9);
  },
  120_000,
);
