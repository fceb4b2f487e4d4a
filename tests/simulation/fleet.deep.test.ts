import { Simulation } from './runs.js';

const simulation = new Simulation();
afterAll(() => simulation.close());

test('1,000 fleets keep every promise', async () => {
  await simulation.holds(1_000);
}, 600_000);
