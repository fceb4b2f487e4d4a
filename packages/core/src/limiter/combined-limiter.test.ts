import { farStore } from '../../../../tests/support/far-store.js';
import { concurrency } from '../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { gcra } from '../algorithms/gcra/gcra.js';
import { ManualClock } from '../clock.js';
import { isLimiterClosedError } from '../errors.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import { CombinedLimiter } from './combined-limiter.js';
import { RateLimiter } from './rate-limiter.js';

const policy = fixedWindow({ limit: 5, window: '1h' });

test('in a cluster, all members need the same hashTag', async () => {
  const store = farStore({ slotted: true }).store;
  const limiter = (name: string, hashTag?: string) =>
    new RateLimiter({ name, policy, store, ...(hashTag && { hashTag }) });
  const combine =
    (...tags: (string | undefined)[]) =>
    () =>
      new CombinedLimiter({ a: limiter('a', tags[0]), b: limiter('b', tags[1]) });
  expect(combine(undefined, undefined)).toThrow(/give all its limiters the same hashTag/);
  expect(combine('orders', undefined)).toThrow(TypeError);
  expect(combine('orders', 'others')).toThrow(TypeError);
  expect(await combine('orders', 'orders')().consume({ a: 1, b: 2 })).toMatchObject({ allowed: true });
});

test('with a cluster store, members without a hashTag are refused at construction', () => {
  const store = farStore({ slotted: true }).store;
  const several = new RateLimiter({ name: 'several', policies: { a: policy, b: policy }, store });
  const other = new RateLimiter({ name: 'other', policy, store });
  expect(() => new CombinedLimiter({ several, other })).toThrow(/Redis Cluster/);
});

test('a combination of one limiter needs no hashTag, because its keys share a slot', async () => {
  const store = farStore({ slotted: true }).store;
  const several = new RateLimiter({ name: 'several', policies: { a: policy, b: policy }, store });
  expect(await new CombinedLimiter({ several }).consume({ several: 1 })).toMatchObject({ allowed: true });
});

test.each([[undefined], [null], [{}], [[]], [5], [{ a: {} }], [{ a: memoryStore() }]])(
  'rejects %p as members',
  (members) => {
    expect(() => new CombinedLimiter(members as never)).toThrow(/^CombinedLimiter/);
  },
);

test('its name joins the names of its members; policies of a member with several have both names', async () => {
  const store = memoryStore();
  const user = new RateLimiter({
    name: 'u',
    policies: { minute: policy, day: gcra({ limit: 9, period: '1d' }) },
    store,
  });
  const all = new RateLimiter({ name: 'everything', policy, store });
  const both = new CombinedLimiter({ user, all });
  const decision = await both.consume({ user: 'ada', all: 'all' }, { cost: { user: 2 } });
  expect(decision).toMatchObject({ name: 'user+all', policy: 'user.minute', source: 'memory' });
  expect(decision.policies.map(({ name, cost }) => [name, cost])).toEqual([
    ['user.minute', 2],
    ['user.day', 2],
    ['all', 1],
  ]);
});

test('consumeSync decides without a promise, for a store in this process', () => {
  const decide = (store: Store) =>
    new CombinedLimiter({ all: new RateLimiter({ name: 'a', policy, store }) }).consumeSync({ all: 'k' });
  expect(decide(memoryStore())).toMatchObject({ allowed: true, remaining: 4 });
  expect(() => decide(farStore().store)).toThrow(/limiter 'all' counts in a far store/);
});

test('consumeSync throws for a store in this process that answers later, and takes nothing', async () => {
  const { store } = farStore({ remote: false });
  const limiter = new RateLimiter({ name: 'a', policy, store });
  const later = /counts in a far store, which answers later: use consume/;
  expect(() => limiter.consumeSync('k')).toThrow(later);
  expect(() => new CombinedLimiter({ all: limiter }).consumeSync({ all: 'k' })).toThrow(later);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await limiter.peek('k')).toMatchObject({ remaining: 5 });
});

test('close ends the waits of the combination, and its members stay open', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const [first, second] = ['a', 'b'].map((name) => new RateLimiter({ name, policy, store })) as [
    RateLimiter,
    RateLimiter,
  ];
  const both = new CombinedLimiter({ first, second });
  const keys = { first: 'k', second: 'k' };
  await both.consume(keys, { cost: 5 });
  const own = both.acquire(keys).catch((error: unknown) => error);
  const theirs = first.acquire('k');
  await clock.advance(1);
  await both.close();
  expect(isLimiterClosedError(await own)).toBe(true);
  expect(isLimiterClosedError(await both.peek(keys).catch((error: unknown) => error))).toBe(true);
  await clock.advance('1h');
  expect(await theirs).toMatchObject({ waited: 3_600_000 });
  expect(await second.consume('k')).toMatchObject({ remaining: 4 });
});

test('an override or a block of a member applies in the combination', async () => {
  const store = memoryStore({ clock: new ManualClock() });
  const [user, all] = ['a', 'b'].map((name) => new RateLimiter({ name, policy, store })) as [
    RateLimiter,
    RateLimiter,
  ];
  const both = new CombinedLimiter({ user, all });
  await user.override('ada', fixedWindow({ limit: 50, window: '1h' }), { expiresIn: '1d' });
  expect(await both.peek({ user: 'ada', all: 'all' })).toMatchObject({
    policies: [{ limit: 50 }, { limit: 5 }],
  });
  await all.block('all', '10m');
  expect(await both.consume({ user: 'ada', all: 'all' })).toMatchObject({
    allowed: false,
    policy: 'all',
    retryAfter: 600_000,
    policies: [{ remaining: 50 }, { remaining: 0 }],
  });
});

test('a key that two members share counts for both', async () => {
  const store = memoryStore({ clock: new ManualClock() });
  const user = new RateLimiter({ name: 'user', policy, store });
  const both = new CombinedLimiter({ sender: user, receiver: user });
  await both.consume({ sender: 'ada', receiver: 'bob' });
  expect(await user.peek('ada')).toMatchObject({ remaining: 4 });
  await both.consume({ sender: 'ada', receiver: 'ada' });
  expect(await user.peek('ada')).toMatchObject({ remaining: 2 });
});

test('the signal of a task aborts when the permit of either member is lost', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const policy = concurrency({ limit: 1, lease: '40s' });
  const [first, second] = ['a', 'b'].map((name) => new RateLimiter({ name, policy, store })) as [
    RateLimiter,
    RateLimiter,
  ];
  const both = new CombinedLimiter({ first, second });
  for (const lost of [first, second]) {
    const running = both.schedule({ first: 'k', second: 'k' }, async ({ signal }) => {
      await lost.reset('k');
      await clock.advance('10s');
      return signal.aborted;
    });
    expect(await running).toBe(true);
  }
});

test('a call that counts twice in one concurrency limit does not wait for itself', async () => {
  const clock = new ManualClock();
  const slots = new RateLimiter({
    name: 'slots',
    policy: concurrency({ limit: 2 }),
    store: memoryStore({ clock }),
  });
  const both = new CombinedLimiter({ from: slots, to: slots });
  const keys = { from: 'ada', to: 'ada' };
  const held = await both.acquire(keys);
  expect(held.policies).toMatchObject([
    { name: 'from', cost: 1, remaining: 0 },
    { name: 'to', cost: 1, remaining: 0 },
  ]);
  const waiting = both.acquire(keys);
  await clock.advance('1m');
  await both.release(held);
  await both.release(await waiting);
  expect(await slots.peek('ada')).toMatchObject({ remaining: 2 });
});
