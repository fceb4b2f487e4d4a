import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fastFolder } from '../../support/fast-folder.js';
import { contests } from './contests.js';
import { Fleet } from './fleet.js';
import { byKey, idealOf, permits, violations } from './outcome.js';

// The same as race.deep.test.ts, with processes that share a file: no algorithm admits more than it promises.

const PROCESSES = 8;
const KEYS = 20;

let folder: string;
let fleet: Fleet;

beforeAll(async () => {
  folder = await mkdtemp(join(fastFolder(), 'sluice-race-'));
  const driver = createRequire(__filename).resolve('libsql');
  fleet = await Fleet.start(PROCESSES, { kind: 'file', file: join(folder, 'limits.db'), driver });
}, 120_000);

afterAll(async () => {
  await fleet?.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each(contests)(
  '$name in a file never admits more than it promises, nor much less',
  async ({ name, policy, judge, ideal }) => {
    const raceRun = {
      kind: 'consume',
      name,
      policies: [policy],
      keys: KEYS,
      calls: 5_000,
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
