import { getEventListeners } from 'node:events';
import { ManualClock } from '../../clock.js';
import { concurrency, gcra } from '../../index.js';
import { memoryStore } from '../../stores/memory/memory-store.js';
import { RateLimiter } from '../rate-limiter.js';
import { onAbort } from './stop.js';

test('all listeners of one signal share one event listener', () => {
  const stop = new AbortController();
  const called: number[] = [];
  const ignore = Array.from({ length: 20 }, (_, i) => onAbort(stop.signal, () => called.push(i)));
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
  ignore[0]!();
  ignore[7]!();
  stop.abort();
  expect(called).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect(() => onAbort(undefined, () => {})()).not.toThrow();
});

test('the event listener is removed with the last listener, and added again with the next', () => {
  const stop = new AbortController();
  const called: string[] = [];
  const listeners = () => getEventListeners(stop.signal, 'abort').length;
  const [first, second] = [onAbort(stop.signal, () => called.push('first')), onAbort(stop.signal, () => {})];
  first();
  expect(listeners()).toBe(1);
  second();
  second();
  expect(listeners()).toBe(0);
  onAbort(stop.signal, () => called.push('third'));
  second();
  expect(listeners()).toBe(1);
  stop.abort();
  expect(called).toEqual(['third']);
});

test('a listener can remove or add listeners', () => {
  const stop = new AbortController();
  const called: string[] = [];
  onAbort(stop.signal, () => {
    called.push('first');
    ignoreSecond();
    onAbort(stop.signal, () => called.push('late'));
  });
  const ignoreSecond = onAbort(stop.signal, () => called.push('second'));
  stop.abort();
  expect(called).toEqual(['first', 'second']);
});

test.each([
  ['booked', gcra({ limit: 1, period: '1h' })],
  ['in line', concurrency({ limit: 1 })],
])('20 waits on one signal, %s, print no warning, and all end when it is aborted', async (_, policy) => {
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
    await clock.advance('10m'); // long enough for renewals
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
