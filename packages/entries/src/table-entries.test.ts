import type { KeptEntry } from './entry-table.js';
import { TableEntries } from './table-entries.js';

test('an entry that a source gives twice is written once, as it was the last time', async () => {
  const turns: { keys: readonly string[]; changed: readonly KeptEntry[] }[] = [];
  const entries = new TableEntries(
    async (keys, change) => {
      turns.push({ keys, changed: change({ now: 100, entries: new Map() }) });
    },
    async () => [],
  );
  const given = ['a', 'b', 'a'].map((key, left) => ({ key, entry: Buffer.from(key), left }));
  expect(await entries.put(given, { overwrites: false })).toBe(2);
  expect(turns).toMatchObject([
    {
      keys: ['a', 'b'],
      changed: [
        { key: 'a', expires: 102 },
        { key: 'b', expires: 101 },
      ],
    },
  ]);
});
