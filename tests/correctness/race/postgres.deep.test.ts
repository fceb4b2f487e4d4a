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

test('processes that make the table and use each key for the first time at once admit what the limit promises', async () => {
  const raceRun = {
    kind: 'consume',
    name: 'first',
    policies: [fixedWindow({ limit: 1, window: '1h' })],
    keys: 300,
    calls: 600,
    inFlight: 100,
  } as const;
  const { calls, answers } = await fleet.run(raceRun);
  expect(answers.length).toBe(calls);
  const admitted = byKey(answers.filter(({ allowed }) => allowed));
  expect([...admitted.values()].filter((ofOne) => ofOne.length > 1)).toEqual([]);
  expect(admitted.size).toBeGreaterThan(200);
}, 120_000);

test.each(contests)(
  '$name in Postgres never admits more than it promises, nor much less',
  async ({ name, policy, judge, ideal }) => {
    const raceRun = {
      kind: 'consume',
      name,
      policies: [policy],
      keys: KEYS,
      calls: 500,
      inFlight: 16,
    } as const;
    const { calls, answers } = await fleet.run(raceRun);
    const admitted = answers.filter(({ allowed }) => allowed);
    expect(answers.length).toBe(calls);
    expect(violations(admitted, judge)).toEqual([]);
    expect(byKey(admitted).size).toBe(KEYS);
    expect(permits(admitted) / permits(idealOf(answers, ideal))).toBeGreaterThanOrEqual(0.9);
  },
  120_000,
);
