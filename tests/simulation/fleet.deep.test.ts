import { NEW_CASES } from '../support/random.js';
import { Simulation } from './runs.js';

/** In two or more of these seeds each mutant breaks a promise. The first find nearly all; one mutant only shows in 243 and 442. */
const SEEDS: readonly (readonly [first: number, seeds: number])[] = [
  [0, 250],
  [430, 50],
];

const simulation = new Simulation();
afterAll(() => simulation.close());

test(`${NEW_CASES ? '1,000' : '300'} fleets keep every promise`, async () => {
  if (NEW_CASES) await simulation.holds(1_000);
  else for (const [first, seeds] of SEEDS) await simulation.holds(seeds, first);
}, 600_000);
