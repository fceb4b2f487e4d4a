import { Simulation } from './runs.js';

const simulation = new Simulation();
afterAll(() => simulation.close());

test('2,000 fleets keep every promise', async () => {
  await simulation.holds(2_000);
}, 600_000);
