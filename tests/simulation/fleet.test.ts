import { Simulation } from './runs.js';

const simulation = new Simulation();
afterAll(() => simulation.close());

test('ten fleets keep every promise through delays, losses, resets, freezes, kills, failovers and jumps of the clock', async () => {
  await simulation.holds(10);
}, 120_000);
