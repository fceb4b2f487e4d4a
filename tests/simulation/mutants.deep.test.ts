import { MUTANTS } from './mutants.js';
import { Simulation } from './runs.js';

/** Fleets in which a fault must show. */
const MOST = 1_000;

const simulation = new Simulation();
afterAll(() => simulation.close());

test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  '%s: a fleet breaks a promise',
  async (_, mutant) => {
    const { broken } = await simulation.find(mutant, MOST);
    expect(mutant.breaks).toContain(broken?.promise);
  },
  300_000,
);
