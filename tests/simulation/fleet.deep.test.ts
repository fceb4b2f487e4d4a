import { Simulation } from './runs.js';

const simulation = new Simulation();
afterAll(() => simulation.close());

test('10,000 fleets keep every promise', async () => {
  await simulation.holds(10_000);
}, 600_000);
