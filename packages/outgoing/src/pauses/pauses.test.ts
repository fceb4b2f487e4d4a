import { ManualClock, memoryStore, type Store } from '@sluice/core';
import { like } from '../../../../tests/support/like.js';
import { UNKNOWN } from './pause.js';
import { OPEN, Pauses } from './pauses.js';

const KEY = 'account:a';
const pausesOf = (store: Store) =>
  new Pauses({ name: 'api', store, keyPrefix: undefined, deadline: undefined, maxPause: 3_600_000 });

test.each([
  ['lets more calls run', 4],
  ['ends the recovery', OPEN],
])('one call goes first after a pause that another process stores while a success %s', async (_, next) => {
  const clock = new ManualClock();
  const memory = memoryStore({ clock });
  const other = pausesOf(memory);
  await other.pause(KEY, other.now + 1_000, UNKNOWN, true);
  await clock.advance('2s');
  let isPaused = false;
  const store = like(memory, {
    decide: async (call) => {
      // Between the look of this process at the key and its write.
      if (call.operation !== 'peek' && !isPaused) {
        isPaused = true;
        await other.pause(KEY, other.now + 1_000, UNKNOWN, true);
      }
      return memory.decide(call);
    },
  });
  const pauses = pausesOf(store);
  await pauses.advance(KEY, next);
  expect(await other.look([KEY])).toMatchObject({ paused: { key: KEY } });
  await clock.advance('2s');
  expect((await other.gate.peek(KEY)).limit).toBe(1);
  await Promise.all([pauses.close(), other.close()]);
  await memory.close();
});

test('a success that arrives after those of later calls takes nothing of the recovery back', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const pauses = pausesOf(store);
  const callsAtOnce = async () => (await pauses.gate.peek(KEY)).limit;
  await pauses.pause(KEY, pauses.now + 1_000, UNKNOWN, true);
  await clock.advance('2s');
  await pauses.advance(KEY, 8);
  await pauses.advance(KEY, 4);
  expect(await callsAtOnce()).toBe(8);
  await pauses.advance(KEY, OPEN);
  await pauses.advance(KEY, 16);
  expect(await callsAtOnce()).toBe(OPEN);
  await pauses.close();
  await store.close();
});
