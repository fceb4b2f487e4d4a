import { isStoreConfigurationError, isStoreUnavailableError } from '@sluice/core';
import { rejection } from '../../../tests/support/rejection.js';
import type { Link } from './clients.js';
import { setUp } from './set-up.js';
import { COLUMNS, sqlOf } from './sql.js';

/** What `setUp` rejects with on a server with these columns, which makes no table. */
function errorAt(columns: string | null, isStandby: boolean): Promise<unknown> {
  const sql = sqlOf({ schema: 'ours', table: 'limits', channel: 'limits' }, true, 'id');
  const link = { query: async () => [[columns, isStandby]] } as unknown as Link;
  return rejection(setUp(link, { sql, name: 'ours.limits', create: false }));
}

test('the error of a missing table has the statement that makes it', async () => {
  const error = await errorAt(null, false);
  expect(isStoreConfigurationError(error)).toBe(true);
  expect(String(error)).toContain('there is no table ours.limits: ');
  expect(String(error)).toContain(
    'CREATE UNLOGGED TABLE IF NOT EXISTS "ours"."limits" (key text COLLATE "C" ',
  );
});

test('a standby is an outage, with a table and without one', async () => {
  for (const columns of [COLUMNS, null]) {
    const error = await errorAt(columns, true);
    expect(isStoreUnavailableError(error) && [error.reason, error.neverSent]).toEqual(['READONLY', true]);
  }
  expect(await errorAt(COLUMNS, false)).toBeUndefined();
});
