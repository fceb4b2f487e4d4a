import { setTimeout as sleep } from 'node:timers/promises';
import { fixedWindow, ManualClock, RateLimiter } from '@sluice/core';
import { EntryStore } from './entry-store.js';
import type { EntryTable } from './entry-table.js';

/** A table of which each trip waits until it is released. */
function heldTable() {
  const clock = new ManualClock();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const table: EntryTable = {
    async change(_, decide) {
      await released;
      decide({ now: clock.now(), entries: new Map() });
    },
    watch: () => () => {},
    keysAfter: () => [],
    sweep: () => false,
    connect: async () => {},
    close: () => {},
  };
  const options = { definitions: false };
  return {
    release,
    store: new EntryStore({ name: 'held', address: 'nowhere', clock, table, options }),
  };
}

test('calls that gather while a trip is under way have a deadline of their own each', async () => {
  const { store, release } = heldTable();
  store.on('degraded', () => {});
  const policy = fixedWindow({ limit: 9, window: '1h' });
  const limiter = new RateLimiter({ name: 'gathered', policy, store, deadline: '2s' });
  const first = limiter.consume('k');
  await sleep(50); // its trip is under way
  const gathered = limiter.consume('k');
  expect(await first).toMatchObject({ source: 'local' });
  const later = limiter.consume('k');
  expect(await gathered).toMatchObject({ source: 'local' });
  release();
  expect(await later).toMatchObject({ source: 'held', allowed: true });
  await limiter.close();
  await store.close();
});
