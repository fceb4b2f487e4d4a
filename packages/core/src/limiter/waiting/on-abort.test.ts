import { getEventListeners } from 'node:events';
import { ManualClock } from '../../clock.js';
import { concurrency, gcra } from '../../index.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { RateLimiter } from '../rate-limiter.js';
import { onAbort } from './on-abort.js';

test('all who listen to one signal share one listener on it', () => {
  const stop = new AbortController();
  const told: number[] = [];
  const ignore = Array.from({ length: 20 }, (_, i) => onAbort(stop.signal, () => told.push(i)));
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
  ignore[0]!();
  ignore[7]!();
  stop.abort();
  expect(told).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect(() => onAbort(undefined, () => {})()).not.toThrow();
});

test('the listener on a signal goes with the last who listens, and comes again with the next', () => {
  const stop = new AbortController();
  const told: string[] = [];
  const listeners = () => getEventListeners(stop.signal, 'abort').length;
  const [first, second] = [onAbort(stop.signal, () => told.push('first')), onAbort(stop.signal, () => {})];
  first();
  expect(listeners()).toBe(1);
  second();
  second();
  expect(listeners()).toBe(0);
  onAbort(stop.signal, () => told.push('third'));
  second();
  expect(listeners()).toBe(1);
  stop.abort();
  expect(told).toEqual(['third']);
});

test('a listener may remove or add listeners', () => {
  const stop = new AbortController();
  const told: string[] = [];
  onAbort(stop.signal, () => {
    told.push('first');
    ignoreSecond();
    onAbort(stop.signal, () => told.push('late'));
  });
  const ignoreSecond = onAbort(stop.signal, () => told.push('second'));
  stop.abort();
  expect(told).toEqual(['first', 'second']);
});

test.each([
  ['booked', gcra({ limit: 1, period: '1h' })],
  ['in line', concurrency({ limit: 1 })],
])('20 waits on one signal, %s, print no warning, and end when it is aborted', async (_, policy) => {
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  try {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ name: 'demo', policy, store: memoryStore({ clock }) });
    const held = await limiter.acquire('k');
    const stop = new AbortController();
    const waits = Array.from({ length: 20 }, () => limiter.acquire('k', { signal: stop.signal }));
    const ended = Promise.allSettled(waits);
    await clock.advance('10m'); // signs of life, too
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    stop.abort(new Error('enough'));
    for (const { status, reason } of (await ended) as PromiseRejectedResult[]) {
      expect([status, reason.message]).toEqual(['rejected', 'enough']);
    }
    await limiter.refund(held);
    expect(await limiter.peek('k')).toMatchObject({ remaining: 1, resetAfter: 0 });
    await new Promise((resolve) => setImmediate(resolve)); // warnings are printed later
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', warn);
  }
});
