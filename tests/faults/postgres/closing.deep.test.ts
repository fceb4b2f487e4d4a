import pg from 'pg';
import { isStoreUnavailableError } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { rejection } from '../../support/rejection.js';
import { closeLater, ownPostgres, storeAt, takenOf, takeOf } from './servers.js';

const LIMIT = 100;

/** Its COMMIT is never answered. */
class SilentClient extends pg.Client {
  override query(query: never): never {
    const reply = super.query(query) as Promise<unknown>;
    const { text } = query as { text: string };
    return (text === 'COMMIT' ? reply.then(() => new Promise(() => {})) : reply) as never;
  }
}

/** What a call rejects with whose store is closed meanwhile. */
async function errorOf(call: unknown, store: { close(): Promise<void> }): Promise<unknown> {
  const error = rejection(Promise.resolve(call));
  await store.close();
  return error;
}

test('close() during COMMIT: the outcome of the call is unknown', async () => {
  const { url } = await ownPostgres();
  const store = storeAt({ connect: () => new SilentClient(url) });
  const call = takeOf(store, LIMIT, 'k')();
  const other = storeAt(url);
  await eventually(async () => (await takenOf(other, LIMIT, 'k')) === 1);
  const error = await errorOf(call, store);
  expect(isStoreUnavailableError(error) && [error.reason, error.neverSent]).toEqual(['closed', false]);
});

test('close() during a wait for a row: the call certainly had no effect', async () => {
  const { url } = await ownPostgres();
  const store = storeAt(url);
  const take = takeOf(store, LIMIT, 'k');
  await take();
  const rival = new pg.Client(url);
  closeLater(() => rival.end());
  await rival.connect();
  await rival.query('BEGIN');
  await rival.query('SELECT 1 FROM sluice FOR UPDATE');
  store.expect(10_000);
  const call = take();
  await eventually(async () => {
    const { rows } = await rival.query('SELECT 1 FROM pg_locks WHERE NOT granted');
    return rows.length === 1;
  });
  const error = await errorOf(call, store);
  expect(isStoreUnavailableError(error) && [error.reason, error.neverSent]).toEqual(['closed', true]);
  await rival.query('COMMIT');
  expect(await takenOf(storeAt(url), LIMIT, 'k')).toBe(1);
});
