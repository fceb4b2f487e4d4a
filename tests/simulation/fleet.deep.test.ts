import { cases } from '../support/runs.js';
import { Simulation } from './runs.js';

const simulation = new Simulation();
afterAll(() => simulation.close());

/** In two or more of the first 500 fleets each mutant of mutants.ts breaks a promise. */
const FLEETS = cases(500, 1_000);

test(`${FLEETS} fleets keep every promise`, async () => {
  await simulation.holds(FLEETS);
}, 600_000);
