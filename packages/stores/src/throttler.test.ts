import { ManualClock, memoryStore, redisStore, type Store } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { failingStore } from '../../../tests/support/failing-store.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { rejection } from '../../../tests/support/rejection.js';
import { throttlerStorage } from './index.js';

/** On a busy machine Redis may take longer than usual, and this process must not count by itself. */
const deadline = '10s';

const MINUTE = 60_000;

function storageOf(store: Store, name = 'api') {
  const storage = throttlerStorage({ name, store, deadline });
  const hit = (blockDuration = MINUTE, limit = 2, ttl = MINUTE) =>
    storage.increment('k', ttl, limit, blockDuration, 'default');
  return { storage, hit };
}

const inMemory = () => {
  const clock = new ManualClock();
  return { clock, ...storageOf(memoryStore({ clock })) };
};

test('the hit above the limit blocks for blockDuration, also past the end of its window', async () => {
  const { clock, hit } = inMemory();
  expect(await hit()).toEqual({ totalHits: 1, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
  await clock.advance('50s');
  expect(await hit()).toEqual({ totalHits: 2, timeToExpire: 10, isBlocked: false, timeToBlockExpire: 0 });
  expect(await hit()).toMatchObject({ totalHits: 3, isBlocked: true, timeToBlockExpire: 60 });
  await clock.advance('59s');
  expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
  await clock.advance('1s');
  expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false });
});

test('after a block that is shorter than its window, the key begins again', async () => {
  const { clock, hit } = inMemory();
  for (let i = 0; i < 3; i += 1) await hit(5000);
  expect(await hit(5000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 5 });
  await clock.advance('5s');
  expect(await hit(5000)).toMatchObject({ totalHits: 1, isBlocked: false, timeToExpire: 60 });
  expect(await hit(5000)).toMatchObject({ totalHits: 2, isBlocked: false });
  expect(await hit(5000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 5 });
});

test('a blocked client that keeps calling is not blocked longer', async () => {
  const { clock, hit } = inMemory();
  for (let i = 0; i < 3; i += 1) await hit();
  for (let i = 0; i < 6; i += 1) {
    await clock.advance('10s');
    await hit();
  }
  expect(await hit()).toMatchObject({ isBlocked: false, totalHits: 2 });
});

test('with a blockDuration of 0, a hit above the limit is denied until its window ends', async () => {
  const { clock, hit } = inMemory();
  await hit(0);
  await clock.advance('50s');
  await hit(0);
  expect(await hit(0)).toMatchObject({ isBlocked: true, timeToBlockExpire: 10 });
  await clock.advance('10s');
  expect(await hit(0)).toMatchObject({ isBlocked: false, totalHits: 1 });
});

test('throttlers and keys count apart, also with colons in them', async () => {
  const storage = throttlerStorage();
  const hits = async (key: string, throttler: string) =>
    (await storage.increment(key, MINUTE, 5, MINUTE, throttler)).totalHits;
  expect(await hits('k', 'short')).toBe(1);
  expect(await hits('k', 'long')).toBe(1);
  expect(await hits('b:c', 'a')).toBe(1);
  expect(await hits('c', 'a:b')).toBe(1);
  expect(await hits('k', 'short')).toBe(2);
  await storage.onApplicationShutdown();
});

test('a storage that an ended application used serves another one', async () => {
  const { storage, hit } = inMemory();
  await hit();
  await storage.onApplicationShutdown();
  expect(await hit()).toMatchObject({ totalHits: 2 });
});

test('two processes share blocks in Redis', async () => {
  const stores = [redisStore(redisUrl()), redisStore(redisUrl())];
  const name = uniqueName('throttler');
  const [one, other] = stores.map((store) => storageOf(store, name));
  await one!.hit();
  await other!.hit();
  expect(await one!.hit(30_000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 30 });
  expect(await other!.hit(30_000)).toMatchObject({ isBlocked: true, totalHits: 3 });
  await Promise.all(stores.map((store) => store.close()));
});

test('a blocked key is answered by this process, with the rest of its block', async () => {
  const far = failingStore();
  const { hit } = storageOf(far.store);
  for (let i = 0; i < 3; i += 1) await hit();
  const calls = far.operations.length;
  await far.clock.advance('500ms');
  expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 60, totalHits: 3 });
  expect(far.operations).toHaveLength(calls);
});

test('while the store is out, this process counts', async () => {
  const far = failingStore();
  far.fail();
  const { hit } = storageOf(far.store);
  await hit();
  await hit();
  expect(await hit(5000)).toMatchObject({ isBlocked: true, totalHits: 3 });
});

test('a store that fails between a denial and its correction does not fail the request', async () => {
  const far = failingStore();
  const { hit } = storageOf(far.store);
  far.refuse('refund');
  for (let i = 0; i < 2; i += 1) await hit(5000);
  expect(await hit(5000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 5 });
  far.mend();
  await far.clock.advance('2s');
  expect(await hit(5000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 3 });
  await far.clock.advance('3s');
  expect(await hit(5000)).toMatchObject({ isBlocked: false, totalHits: 1 });
});

test('a limit of 0 blocks each hit, and a limit of Infinity none', async () => {
  const { hit } = inMemory();
  expect(await hit(5000, 0)).toMatchObject({ isBlocked: true, totalHits: 1, timeToBlockExpire: 60 });
  expect(await hit(5000, Number.POSITIVE_INFINITY)).toMatchObject({ isBlocked: false, totalHits: 1 });
});

test('any number of blockDurations is kept in bounded memory', async () => {
  const { hit } = inMemory();
  for (let block = 1; block <= 250; block += 1) await hit(block * 1000, 1000);
  expect(await hit(1000, 1000)).toMatchObject({ totalHits: 251, isBlocked: false });
});

test('a blockDuration in use is kept, however many others there are', async () => {
  const far = failingStore();
  const { storage, hit } = storageOf(far.store);
  for (let i = 0; i < 3; i += 1) await hit();
  for (let block = 1; block <= 150; block += 1) {
    await storage.increment('other', MINUTE, 1000, block * 1000, 'default');
    const calls = far.operations.length;
    expect(await hit()).toMatchObject({ isBlocked: true });
    expect(far.operations).toHaveLength(calls);
  }
});

test('a storage that has ended publishes no limits, also if it had many blockDurations', async () => {
  const store = memoryStore();
  const { storage, hit } = storageOf(store);
  for (let block = 1; block <= 250; block += 1) await hit(block * 1000, 1000);
  const names = async () =>
    (await readDefinitions(store)).flatMap(({ limiters }) => limiters.map(({ name }) => name));
  expect(await names()).toEqual(['api']);
  await storage.onApplicationShutdown();
  expect(await names()).toEqual([]);
});

test('a hit under way does not fail when its blockDuration is dropped', async () => {
  const { hit } = inMemory();
  for (let i = 0; i < 2; i += 1) await hit(5000);
  const denied = hit(5000);
  const others = Array.from({ length: 150 }, (_, i) => hit(90_000 + i));
  expect(await denied).toMatchObject({ isBlocked: true, timeToBlockExpire: 5 });
  await Promise.all(others);
});

test.each([
  ['a limit of NaN', [MINUTE, Number.NaN, MINUTE], 'limit must be a whole number'],
  ['a ttl of NaN', [Number.NaN, 1, MINUTE], 'window must be a duration'],
  ['a ttl of 0', [0, 1, MINUTE], 'window must be a duration'],
  ['a ttl of a thousand years', [1000 * 365 * 86_400_000, 1, MINUTE], 'to 3650 days'],
  ['a blockDuration of NaN', [MINUTE, 1, Number.NaN], 'escalate.block[0] must be a duration'],
  [
    'a blockDuration of Infinity',
    [MINUTE, 1, Number.POSITIVE_INFINITY],
    'escalate.block[0] must be a duration',
  ],
])('%s rejects', async (_, [ttl, limit, block], message) => {
  const { hit } = inMemory();
  const error = await rejection(hit(block, limit, ttl));
  expect(error).toMatchObject({ name: 'RangeError', message: expect.stringContaining(message) });
});
