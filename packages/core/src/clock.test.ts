import { performance } from 'node:perf_hooks';
import { ManualClock, systemClock } from './clock.js';

describe('ManualClock', () => {
  test('stays still until advance, which wakes sleepers in the order of their moments', async () => {
    const clock = new ManualClock(5_000);
    const woken: [string, number][] = [];
    const sleeper = async (name: string, micros: number) => {
      await clock.sleep(micros);
      woken.push([name, clock.now()]);
    };
    const all = [sleeper('late', 3_000), sleeper('early', 1_000), sleeper('also early', 1_000)];
    expect(clock.now()).toBe(5_000);
    await clock.advance(2);
    expect(woken).toEqual([
      ['early', 6_000],
      ['also early', 6_000],
    ]);
    expect(clock.now()).toBe(7_000);
    await clock.advance('1ms');
    await Promise.all(all);
    expect(woken).toHaveLength(3);
  });

  test('a sleeper that sleeps again on waking is woken again within the same advance', async () => {
    const clock = new ManualClock(0);
    const moments: number[] = [];
    const ticking = (async () => {
      for (let i = 0; i < 3; i += 1) {
        await clock.sleep(1_000);
        moments.push(clock.now());
      }
    })();
    await clock.advance(10);
    await ticking;
    expect(moments).toEqual([1_000, 2_000, 3_000]);
  });

  test('set moves the clock anywhere and wakes no sleeper', async () => {
    const clock = new ManualClock(1_000_000);
    let awake = false;
    const sleeping = clock.sleep(1_000).then(() => {
      awake = true;
    });
    clock.set(500_000);
    await clock.advance(1);
    expect([clock.now(), awake]).toEqual([501_000, false]);
    clock.set(2_000_000);
    await clock.advance(0);
    await sleeping;
    expect(awake).toBe(true);
  });
});

describe.each([
  ['systemClock', systemClock],
  ['ManualClock', new ManualClock()],
])('%s', (_, clock) => {
  test('an aborted sleep rejects with the reason of its signal', async () => {
    const stop = new AbortController();
    const sleeping = clock.sleep(3_600_000_000, stop.signal);
    stop.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    await expect(clock.sleep(1, stop.signal)).rejects.toThrow('enough');
  });

  test('now returns whole microseconds', () => {
    expect(Number.isSafeInteger(clock.now())).toBe(true);
  });
});

test('systemClock sleeps at least its argument, also if a timer fires early', async () => {
  for (const micros of [0, 1, 999, 1_500, 10_000]) {
    const start = systemClock.now();
    await systemClock.sleep(micros);
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(micros);
  }
});

test('systemClock can sleep longer than one timer', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask'] });
  try {
    let awake = false;
    const days = 30 * 86_400_000;
    const sleeping = systemClock.sleep(days * 1000).then(() => {
      awake = true;
    });
    await jest.advanceTimersByTimeAsync(days - 1);
    expect(awake).toBe(false);
    await jest.advanceTimersByTimeAsync(2);
    await sleeping;
    expect(awake).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});

test('systemClock.lateness returns how late the sleeps of this process end', async () => {
  const slept = systemClock.sleep(1_000);
  const blockedUntil = performance.now() + 101;
  while (performance.now() < blockedUntil);
  await slept;
  const late = systemClock.lateness!();
  expect(late).toBeGreaterThanOrEqual(100_000);
});
