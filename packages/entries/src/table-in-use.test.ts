import { ManualClock } from '@sluice/core';
import { eventually } from '../../../tests/support/eventually.js';
import type { EntryTable, KeptEntry } from './entry-table.js';
import { TableInUse } from './table-in-use.js';

const SWEEPING = 'sluice:sweeping';

const clock = new ManualClock();
let rows: Map<string, KeptEntry>;
let opened: TableInUse[];
beforeEach(() => {
  rows = new Map();
  opened = [];
});
afterEach(async () => {
  for (const one of opened) await one.close();
});

/** One process that uses the table. */
function inUse(): { readonly process: TableInUse; readonly sweep: jest.Mock } {
  const sweep = jest.fn(() => false);
  const table: EntryTable = {
    change(_, decide) {
      for (const row of decide({ now: clock.now(), entries: rows }).changed) rows.set(row.key, row);
    },
    keysAfter: () => [],
    sweep,
    connect: async () => {},
    close: () => {},
  };
  const process = new TableInUse('demo', table, undefined);
  opened.push(process);
  return { process, sweep };
}

const decideOn = ({ process }: { readonly process: TableInUse }) => process.claim('key', 1);

test('a process that lives for seconds sweeps the table, unless another one has', async () => {
  const [one, other] = [inUse(), inUse()];
  await decideOn(one);
  await eventually(async () => one.sweep.mock.calls.length === 1);
  await decideOn(other);
  const claimed = rows.get(SWEEPING);
  const looks = jest.spyOn(other.process, 'claim');
  await eventually(async () => looks.mock.calls.length === 1);
  await looks.mock.results[0]!.value;
  expect(other.sweep).not.toHaveBeenCalled();
  expect(rows.get(SWEEPING)).toBe(claimed);
});

test('the claim of a sweep ends when the clock goes back', async () => {
  const hour = 3_600_000_000;
  rows.set(SWEEPING, { key: SWEEPING, entry: Buffer.alloc(0), expires: clock.now() + hour });
  const one = inUse();
  await decideOn(one);
  await eventually(async () => one.sweep.mock.calls.length === 1);
  expect(rows.get(SWEEPING)!.expires).toBeLessThan(clock.now() + hour);
});
