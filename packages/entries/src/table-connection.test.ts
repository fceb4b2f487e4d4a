import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError } from '@sluice/core';
import { TableConnection } from './table-connection.js';

test('the longest deadline waits for an answer, too', async () => {
  const connection = new TableConnection({
    maker: 'testStore',
    open: () => ({ connect: () => sleep(50), onLost: () => {}, end: () => {} }),
    setUp: async () => {},
    classified: (cause) => new StoreUnavailableError('out', { cause }),
  });
  connection.expect(3650 * 86_400_000);
  expect(connection.deadline).toBe(86_400_000);
  await connection.ready();
  connection.close();
});
