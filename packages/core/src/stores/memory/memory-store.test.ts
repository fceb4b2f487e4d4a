import { heapUsed } from '../../../../../tests/support/heap-used.js';
import { limitOf } from '../../../../../tests/support/limit-of.js';
import { concurrency } from '../../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../../algorithms/fixed-window/fixed-window.js';
import { compilePolicy } from '../../algorithms/index.js';
import { KeyCall } from '../../call/call.js';
import { ManualClock } from '../../clock.js';
import { RateLimiter } from '../../limiter/rate-limiter.js';
import { memoryStore } from './memory-store.js';

const limiterOn = (maxKeys: number, limit = 1) => {
  const clock = new ManualClock();
  const store = memoryStore({ maxKeys, clock });
  return {
    clock,
    store,
    limiter: new RateLimiter({ name: 'demo', policy: fixedWindow({ limit, window: '10s' }), store }),
  };
};

test('never stores more than maxKeys keys', async () => {
  const { limiter, store } = limiterOn(100);
  for (let key = 0; key < 1_000; key += 1) await limiter.consume(key);
  expect(store.size).toBe(100);
});

test('a flood of new keys does not admit a denied key again', async () => {
  const { limiter } = limiterOn(100);
  await limiter.consume('attacker');
  for (let key = 0; key < 2_000; key += 1) {
    await limiter.consume(key);
    expect(await limiter.consume('attacker')).toMatchObject({ allowed: false });
  }
});

test('a flood of new keys does not evict a block, an override or a waiting call', async () => {
  const { limiter, clock } = limiterOn(100, 5);
  await limiter.block('blocked', '1h');
  await limiter.override('overridden', fixedWindow({ limit: 1, window: '10s' }), { expiresIn: '1h' });
  await limiter.consume('full', { cost: 5 });
  const waiting = limiter.acquire('full');
  for (let key = 0; key < 2_000; key += 1) await limiter.consume(key);
  expect(await limiter.peek('blocked')).toMatchObject({ allowed: false });
  expect(await limiter.peek('overridden')).toMatchObject({ limit: 1 });
  expect(await limiter.consume('full')).toMatchObject({ allowed: false });
  await clock.advance('10s');
  expect(await waiting).toMatchObject({ waited: 10_000 });
});

test('a flood of new keys does not evict a held permit', async () => {
  const { limiter, clock, store } = limiterOn(100);
  const locks = new RateLimiter({ name: 'locks', policy: concurrency({ limit: 1, lease: '1h' }), store });
  const holder = await locks.acquire('job');
  for (let key = 0; key < 2_000; key += 1) await limiter.consume(key);
  expect(await locks.consume('job')).toMatchObject({ allowed: false });
  // That also holds after a denial and a renewed lease.
  await clock.advance('30m');
  for (let key = 0; key < 2_000; key += 1) await limiter.consume(`later-${key}`);
  expect(await locks.consume('job')).toMatchObject({ allowed: false });
  await locks.release(holder);
  expect(await locks.consume('job')).toMatchObject({ allowed: true });
});

test('a denied key is not evicted while there are other keys', async () => {
  const { limiter } = limiterOn(1_000);
  const keys = Array.from({ length: 500 }, (_, i) => `denied-${i}`);
  for (const key of keys) for (let call = 0; call < 2; call += 1) await limiter.consume(key);
  for (let key = 0; key < 5_000; key += 1) await limiter.consume(key);
  for (const key of keys) expect(await limiter.peek(key)).toMatchObject({ allowed: false });
});

test('a denied key that passes again is evicted like other keys', async () => {
  const { limiter, clock, store } = limiterOn(3);
  for (const key of ['a', 'a', 'b', 'b']) await limiter.consume(key);
  await clock.advance('10s');
  await limiter.consume('a');
  for (const key of ['b', 'b']) await limiter.consume(key);
  for (const key of ['x', 'y', 'z']) await limiter.consume(key);
  expect(store.size).toBe(3);
  expect(await limiter.peek('a')).toMatchObject({ allowed: true });
  expect(await limiter.peek('b')).toMatchObject({ allowed: false });
});

test('among denied keys only, the key denied first is evicted; blocks and overrides stay', async () => {
  const { limiter, store } = limiterOn(10);
  await limiter.block('blocked', '1h');
  await limiter.override('overridden', fixedWindow({ limit: 9, window: '10s' }), { expiresIn: '1h' });
  const consumed: number[] = [];
  for (let key = 0; key < 100; key += 1) {
    for (let call = 0; call < 2; call += 1) await limiter.consume(key);
    consumed.push(key);
  }
  expect(store.size).toBe(10);
  const denied = await Promise.all(consumed.map(async (key) => !(await limiter.peek(key)).allowed));
  expect(consumed.filter((key) => denied[key])).toEqual(consumed.slice(-8));
  expect(await limiter.peek('blocked')).toMatchObject({ allowed: false });
  expect(await limiter.peek('overridden')).toMatchObject({ limit: 9 });
});

test('among blocked keys only, the key blocked first is evicted', async () => {
  const { limiter, store } = limiterOn(3);
  for (const key of ['a', 'b', 'c', 'd']) await limiter.block(key, '1h');
  expect(store.size).toBe(3);
  expect(await limiter.peek('a')).toMatchObject({ allowed: true });
  for (const key of ['b', 'c', 'd']) expect(await limiter.peek(key)).toMatchObject({ allowed: false });
});

test('a key that is no longer blocked is evicted like other keys', async () => {
  const { limiter } = limiterOn(3, 5);
  await limiter.block('a', '1h');
  await limiter.consume('a');
  await limiter.unblock('a');
  await limiter.consume('a');
  for (const key of ['x', 'y', 'z']) await limiter.consume(key);
  expect(await limiter.peek('a')).toMatchObject({ remaining: 5 });
});

test('evictions continue after sweeps and after the store was empty', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
  try {
    const { limiter, store, clock } = limiterOn(10);
    for (let round = 0; round < 5; round += 1) {
      for (let key = 0; key < 30; key += 1) await limiter.consume(`${round}-${key}`);
      expect(store.size).toBe(10);
      if (round % 2 === 0) clock.set(clock.now() + 10_000_000);
      jest.advanceTimersByTime(2_000);
      expect(store.size).toBe(round % 2 === 0 ? 0 : 10);
    }
  } finally {
    jest.useRealTimers();
  }
});

test('an ended block or override leaves no entry', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
  try {
    const { limiter, store, clock } = limiterOn(100);
    await limiter.block('a', '1m');
    await limiter.override('b', fixedWindow({ limit: 9, window: '10s' }), { expiresIn: '1m' });
    expect(store.size).toBe(2);
    await limiter.unblock('a');
    expect(store.size).toBe(1);
    clock.set(clock.now() + 60_000_000);
    jest.advanceTimersByTime(2_000);
    expect(store.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a peek uses no memory, and a refund frees it', async () => {
  const { limiter, store } = limiterOn(100);
  await limiter.peek('k');
  await limiter.unblock('k');
  await limiter.reset('k');
  await limiter.reward('k', 3);
  expect(store.size).toBe(0);
  await limiter.refund(await limiter.consume('k'));
  expect(store.size).toBe(0);
});

test('a listener receives the ids of admitted calls until it unsubscribes', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limiter = new RateLimiter({ name: 'demo', policy: concurrency({ limit: 1 }), store });
  const received: number[] = [];
  const stop = await store.listen('sluice:v2:cc:demo:{k}', (id) => received.push(id));
  const held = await limiter.acquire('k');
  const waits = [limiter.acquire('k'), limiter.acquire('k')];
  await clock.advance(1);
  await limiter.release(held);
  const next = await waits[0]!;
  expect(received).toHaveLength(1);
  stop();
  stop();
  await limiter.release(next);
  await limiter.release(await waits[1]!);
  expect(received).toHaveLength(1);
});

test('a store of denied keys only still evicts, and stays within maxKeys', async () => {
  const { limiter, store } = limiterOn(10);
  for (let key = 0; key < 100; key += 1) {
    await limiter.consume(key);
    expect(await limiter.consume(key)).toMatchObject({ allowed: false });
  }
  expect(store.size).toBe(10);
});

test('a timer removes expired keys, and does not keep the process alive', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
  try {
    const { limiter, store, clock } = limiterOn(1_000);
    expect(jest.getTimerCount()).toBe(0);
    for (let key = 0; key < 50; key += 1) await limiter.consume(key);
    jest.advanceTimersByTime(2_000);
    expect(store.size).toBe(50);
    clock.set(clock.now() + 10_000_000);
    jest.advanceTimersByTime(2_000);
    expect(store.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
    await limiter.consume('again');
    expect(jest.getTimerCount()).toBe(1);
    await store.close();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test.each([
  [
    'cut from headers',
    (i: number, length: number) =>
      Buffer.alloc(16_384, `${i}-of-many.`)
        .toString('latin1')
        .slice(3, 3 + length),
  ],
  [
    'joined',
    (i: number, length: number) =>
      `${i}${Buffer.alloc(length - 8, 'x').toString('latin1')}`.padEnd(length, 'yz'),
  ],
])('keys that were %s do not keep other text alive', (_, keyOf) => {
  for (const length of [12, 13, 40]) {
    const store = memoryStore();
    const limit = limitOf(compilePolicy(fixedWindow({ limit: 1, window: '1h' })));
    const before = heapUsed();
    for (let i = 0; i < 1_000; i += 1)
      store.decide(new KeyCall('consume', 0, limit, keyOf(1_000_000 + i, length), 1, 0));
    expect((heapUsed() - before) / 1_000).toBeLessThan(2_000);
    expect(store.size).toBe(1_000);
  }
});

test.each([
  [{ maxKeys: 0 }, /maxKeys must be a whole number from 1 to 16000000, not 0/],
  [{ clock: {} }, /clock must have now\(\) and sleep\(micros\), not an object/],
  [{ maxKeys: 1.5 }, /not 1.5/],
  [{ maxkeys: 5 }, /no option 'maxkeys'/],
  [null, /takes an options object/],
])('rejects %j', (options, message) => {
  expect(() => memoryStore(options as never)).toThrow(message);
});
