import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQLITE_WHY } from '../sqlite/examine-sqlite.js';
import { UNSEEN_IDS } from '../unseen.js';
import { CHECKS } from './index.js';

test('docs/doctor.md lists each finding exactly once', () => {
  const page = readFileSync(join(__dirname, '../../../../../docs/doctor.md'), 'utf8');
  const documented = [...page.matchAll(/^\| `([a-z-]+)` \| (?:note|warning|error)/gm)].map(([, id]) => id);
  const ids = [...CHECKS.flatMap(({ why }) => Object.keys(why)), ...UNSEEN_IDS, ...Object.keys(SQLITE_WHY)];
  expect(documented.sort()).toEqual(ids.sort());
  expect(new Set([...ids, ...CHECKS.map(({ about }) => about)]).size).toBe(ids.length + CHECKS.length);
});
