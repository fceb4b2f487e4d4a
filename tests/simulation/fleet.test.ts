import { Simulation } from './runs.js';

const simulation = new Simulation();
afterAll(() => simulation.close());

test('50 fleets keep every promise through delays, losses, resets, freezes, kills, failovers and jumps of the clock', async () => {
  await simulation.holds(50);
}, 120_000);
