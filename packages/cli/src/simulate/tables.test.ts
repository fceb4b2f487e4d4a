import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRules } from '@sluice/rules';
import { simulate } from '@sluice/rules/simulate';
import { notesOf } from './tables.js';

test.each([
  [[2, 1], [expect.stringMatching(/^api: requests cost different amounts, so a number far below/)]],
  [[2, 2], []],
])('for requests that cost %j, the notes on a far smaller limit are %j', async (costs, notes) => {
  const rules = parseRules(`rules:
  - { name: api, match: { path: /* }, cost: '#{query.c}', limit: { fixedWindow: { limit: 3, window: 1m } } }`);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-costs-'));
  try {
    const log = join(folder, 'access.log');
    const lines = costs.map((cost) => ({
      time: '2026-01-01T00:00:00.5Z',
      method: 'GET',
      path: `/?c=${cost}`,
      ip: '192.0.2.1',
    }));
    await writeFile(log, lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(notesOf(await simulate(rules, log, { target: 0 }))).toEqual(notes);
  } finally {
    await rm(folder, { recursive: true });
  }
});
