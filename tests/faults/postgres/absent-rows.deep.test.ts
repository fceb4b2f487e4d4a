import { Client } from 'pg';
import { slidingLog } from '../../../packages/core/src/index.js';
import { meter } from '../../../packages/meter/src/index.js';
import { eventually } from '../../support/eventually.js';
import { sql } from '../../support/postgres/index.js';
import { closeLater, ownPostgres, storeAt } from './servers.js';

// A turn that waits for one row has a snapshot in which another row, which is inserted meanwhile, does not exist.

test('a hold counts what was settled while it waited for the row of the held amounts', async () => {
  const { url } = await ownPostgres();
  const store = storeAt(url);
  const axes = { log: slidingLog({ limit: 100, window: '1h' }) };
  const budget = meter({ name: 'ai', store, axes, lapse: 'refund', deadline: '10s' });
  closeLater(() => budget.close());
  await budget.hold('other', { log: 90 }, { lapse: 'keep' });
  await budget.hold('k', { log: 20 }); // held only: nothing is spent

  const rows = await sql(url, 'SELECT key FROM sluice');
  const keys = rows.map(({ key }) => String(key));
  const spentOfOther = keys.find((key) => key.endsWith(':other') && !key.includes(':hd:'))!;
  const heldOfK = keys.find((key) => key.endsWith(':k') && key.includes(':hd:'))!;
  const spentOfK = spentOfOther.replace(/:other$/, ':k');

  const settling = new Client(url);
  await settling.connect();
  closeLater(() => settling.end());
  await settling.query('BEGIN');
  await settling.query('SELECT 1 FROM sluice WHERE key = $1 FOR UPDATE', [heldOfK]);
  const hold = budget.hold('k', { log: 50 });
  hold.catch(() => {});
  await eventually(async () => {
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    return (await sql(url, waiting)).length === 1;
  });
  const copy = 'INSERT INTO sluice SELECT $1, entry, expires FROM sluice WHERE key = $2';
  await settling.query(copy, [spentOfK, spentOfOther]);
  await settling.query('COMMIT');
  // 90 are spent and 20 are held.
  await expect(hold).rejects.toMatchObject({ code: 'SLUICE_BUDGET_EXCEEDED', left: -10 });
});
