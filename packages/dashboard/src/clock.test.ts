import { performance } from 'node:perf_hooks';
import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { Denials } from './denials.js';
import { Limiters } from './limiters.js';

const HOUR = 3_600_000;

afterEach(() => jest.restoreAllMocks());

/** Ten seconds pass, and the machine's time is set back by an hour. */
function setBack(): void {
  const [monotonic, wall] = [performance.now.bind(performance), Date.now];
  jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + 10_000);
  jest.spyOn(Date, 'now').mockImplementation(() => wall() - HOUR);
}

test('a clock that is set back hides no limiter that is new', async () => {
  const store = memoryStore();
  const limiters = new Limiters(store);
  expect(await limiters.list()).toEqual([]);
  const limiter = new RateLimiter({ name: 'new', policy: fixedWindow({ limit: 1, window: '1h' }), store });
  await limiter.consume('ann');
  setBack();
  expect((await limiters.list()).map(({ name }) => name)).toEqual(['new']);
  await limiters.close();
  await limiter.close();
  await store.close();
});

test('a clock that is set back keeps no round trips of a process that ended', () => {
  const denials = new Denials();
  const storeCalls = { count: 1, p50: 1, p99: 2 };
  denials.add({ process: 'p', host: 'h', pid: 1, denials: [], omitted: 0, storeCalls });
  expect(denials.roundTrip()).toMatchObject({ processes: 1 });
  setBack();
  expect(denials.roundTrip()).toBeNull();
});
