import { concurrency, fixedWindow, memoryStore, type Store } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { meter } from './index.js';

const axes = { usd: fixedWindow({ limit: 100, window: '1h' }), running: concurrency({ limit: 3 }) };
let store: Store;
beforeEach(() => {
  store = memoryStore();
});
afterEach(() => store.close());

/** The meters that other processes know of. */
const published = async () =>
  (await readDefinitions(store)).flatMap(({ limiters }) => limiters.flatMap(({ meter: one }) => one ?? []));

test('a meter publishes its axes, and the kinds of scopes once it has used them', async () => {
  const budget = meter({
    name: 'ai',
    store,
    axes,
    soft: ['usd'],
    scopes: (user: string) => ['tenant:acme', { key: `user:${user}`, axes: ['usd'] }],
  });
  expect(await published()).toEqual([{ axes, soft: ['usd'], scopes: {} }]);
  await budget.status('ann');
  await budget.hold('ben', {});
  const scopes = { tenant: ['usd', 'running'], user: ['usd'] };
  expect(await published()).toEqual([{ axes, soft: ['usd'], scopes }]);
  await budget.close();
  expect(await published()).toEqual([]);
});

test.each([
  ['keys without a colon are of one kind, without a name', ['ann', 'ben'], { '': ['usd', 'running'] }],
  ['more than ten kinds are not published', Array.from({ length: 11 }, (_, i) => `user${i}:chat`), {}],
  ['a kind that is no word is not published, nor the others', ['user:a', 'ann lee:chat'], {}],
])('%s', async (_, keys, scopes) => {
  const budget = meter({ name: 'ai', store, axes });
  for (const key of keys) await budget.status(key);
  expect(await published()).toMatchObject([{ scopes }]);
  await budget.close();
});

test('a meter that was closed is not published again by a new kind of scope', async () => {
  const budget = meter({ name: 'ai', store, axes });
  await budget.close();
  await budget.status('user:ann');
  expect(await published()).toEqual([]);
});
