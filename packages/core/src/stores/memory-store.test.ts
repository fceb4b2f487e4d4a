import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { ManualClock } from '../clock.js';
import { RateLimiter } from '../limiter.js';
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

test('never remembers more than maxKeys keys', async () => {
  const { limiter, store } = limiterOn(100);
  for (let key = 0; key < 1_000; key += 1) await limiter.consume(key);
  expect(store.size).toBe(100);
});

test('a flood of new keys does not let a denied one in again', async () => {
  const { limiter } = limiterOn(100);
  await limiter.consume('attacker');
  for (let key = 0; key < 2_000; key += 1) {
    await limiter.consume(key);
    expect(await limiter.consume('attacker')).toMatchObject({ allowed: false });
  }
});

test('when all are denied it still makes room, and stays within its bound', async () => {
  const { limiter, store } = limiterOn(10);
  for (let key = 0; key < 100; key += 1) {
    await limiter.consume(key);
    expect(await limiter.consume(key)).toMatchObject({ allowed: false });
  }
  expect(store.size).toBe(10);
});

test('expired keys are swept without being asked for, by a timer that keeps no process alive', async () => {
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
  [{ maxKeys: 0 }, /maxKeys must be a whole number from 1 to 16000000, not 0/],
  [{ clock: {} }, /clock must have now\(\) and sleep\(micros\), not an object/],
  [{ maxKeys: 1.5 }, /not 1.5/],
  [{ maxkeys: 5 }, /no option 'maxkeys'/],
  [null, /takes an options object/],
])('refuses %j', (options, message) => {
  expect(() => memoryStore(options as never)).toThrow(message);
});
