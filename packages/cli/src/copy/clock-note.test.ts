import type { Connection } from '../connection.js';
import { clockNote } from './clock-note.js';

const T = Date.UTC(2026, 0, 1) * 1_000;

const store = (address: string, now: number): Connection =>
  ({ address, deadline: 1_000, entries: { now: async () => now } }) as unknown as Connection;

test.each([
  [12_000_000, 'The clock of b is 12 s ahead of the clock of a: permits come back that much earlier.'],
  [-90_000_000, 'The clock of b is 1 min 30 s behind the clock of a: permits come back that much later.'],
  [900_000, undefined],
  [-900_000, undefined],
])('a clock that is %d µs ahead of the other is noted as %p', async (ahead, note) => {
  expect(await clockNote(store('a', T), store('b', T + ahead))).toBe(note);
});
