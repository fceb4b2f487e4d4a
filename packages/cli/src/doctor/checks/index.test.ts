import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTING, POSTGRES_CHECKS } from '../postgres/examine.js';
import { SQLITE_WHY } from '../sqlite/examine-sqlite.js';
import { UNSEEN_IDS } from '../unseen.js';
import { CHECKS } from './index.js';

const page = readFileSync(join(__dirname, '../../../../../docs/doctor.md'), 'utf8');
const [ofRedis, ofPostgres, ofFile] = page.split(/^## (?:Findings about Postgres|Files of SQLite)$/m);

test.each([
  ['Redis', ofRedis, CHECKS, UNSEEN_IDS],
  ['Postgres', ofPostgres, [CONNECTING, ...POSTGRES_CHECKS], ['not-examined']],
  ['SQLite', ofFile, [{ about: 'file', why: SQLITE_WHY }], []],
])('docs/doctor.md lists each finding about %s exactly once', (_, section, checks, others) => {
  const documented = [...section!.matchAll(/^\| `([a-z-]+)` \| (?:note|warning|error)/gm)].map(
    ([, id]) => id,
  );
  const ids = [...checks.flatMap(({ why }) => Object.keys(why)), ...others];
  expect(documented.sort()).toEqual(ids.sort());
  expect(new Set([...ids, ...checks.map(({ about }) => about)]).size).toBe(ids.length + checks.length);
});
