import { MUTANTS } from './mutants.js';
import { Simulation } from './runs.js';

/** The fleets that `fleet.deep.test.ts` runs: a fault must show in one of them. */
const MOST = 500;

const simulation = new Simulation();
afterAll(() => simulation.close());

test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  '%s: a fleet breaks a promise',
  async (_, mutant) => {
    const { broken } = await simulation.find(mutant, MOST - (mutant.first ?? 0));
    expect(mutant.breaks).toContain(broken?.promise);
  },
  300_000,
);
