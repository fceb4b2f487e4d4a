import { concurrency, memoryStore, RateLimiter } from '@sluice/core';
import { readPauses } from './read-pauses.js';

const store = memoryStore();
const gate = new RateLimiter({
  name: 'github:pauses',
  policy: concurrency({ limit: 64 }),
  store,
  hashTag: 'github',
});
const limiter = RateLimiter.internals(gate).limits.definition('limiter');
afterAll(async () => {
  await gate.close();
  await store.close();
});

const pause = {
  scope: 'account',
  key: 'account:ann',
  kind: 'limit',
  reason: 'HTTP 429',
  status: 429,
  header: 'retry-after',
  since: 1,
  until: 2,
  stored: true,
};
const upstream = { name: 'github', limiter, pauses: [pause] };
const text = { form: 1, host: 'shop-1', pid: 4711, upstreams: [upstream] };

const read = async (given: unknown) => {
  const leftOut: string[] = [];
  await store.fleet.publish('pauses', typeof given === 'string' ? given : JSON.stringify(given), 60_000);
  return { found: await readPauses(store, ({ reason }) => void leftOut.push(reason)), leftOut };
};

test('reads what a process has published, without fields that it does not know', async () => {
  const { found, leftOut } = await read({
    ...text,
    upstreams: [{ ...upstream, pauses: [{ ...pause, later: 1 }] }],
  });
  expect(found).toMatchObject([
    { host: 'shop-1', pid: 4711, upstreams: [{ name: 'github', pauses: [pause] }] },
  ]);
  expect(JSON.stringify(found)).not.toContain('later');
  expect(leftOut).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['is not JSON', 'no', 'it is not JSON'],
  ['has a newer form', { ...text, form: 2 }, 'it has form 2, and this version reads form 1: update it'],
  ['has a host with control characters', { ...text, host: 'a\n' }, 'its host cannot be read'],
  ['has upstreams that are no list', { ...text, upstreams: {} }, 'its upstreams cannot be read'],
  [
    'names an upstream in other characters',
    { ...text, upstreams: [{ ...upstream, name: 'a b' }] },
    'its name cannot be read',
  ],
  [
    'has a moment that no Date has',
    { ...text, upstreams: [{ ...upstream, pauses: [{ ...pause, until: 1e300 }] }] },
    'its until cannot be read',
  ],
  [
    'has an unknown scope',
    { ...text, upstreams: [{ ...upstream, pauses: [{ ...pause, scope: 'all' }] }] },
    'its scope cannot be read',
  ],
  [
    'has a limiter without storage keys',
    { ...text, upstreams: [{ ...upstream, limiter: { ...limiter, prefixes: {} } }] },
    'its policies cannot be read',
  ],
])('a text that %s is left out with the reason', async (_, given, reason) => {
  expect(await read(given)).toEqual({ found: [], leftOut: [reason] });
});

test('a store without a notice board is an error', async () => {
  await expect(readPauses({})).rejects.toThrow(
    new TypeError('readPauses: this store has no notice board. Use memoryStore() or redisStore(…)'),
  );
});
