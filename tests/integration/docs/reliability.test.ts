import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { section } from '../../../scripts/sections.js';

test('the page has measurements of each group within the promised time', () => {
  const page = readFileSync(join(__dirname, '../../../docs/reliability.md'), 'utf8');
  const rows = section(page, 'faults')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const known = rows.flatMap((row) => /\| (\d+(?:\.\d+)?) ms +\|[^|]+\|[^|]+\|$/.exec(row)?.[1] ?? []);
  expect(known.length).toBeGreaterThanOrEqual(15);
  for (const ms of known) expect(Number(ms)).toBeLessThanOrEqual(5);
  expect(rows.length).toBeGreaterThanOrEqual(30);
});
