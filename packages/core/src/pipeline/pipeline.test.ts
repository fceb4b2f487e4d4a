import { setTimeout as sleep } from 'node:timers/promises';
import { farStore } from '../../../../tests/support/far-store.js';
import { limitOf } from '../../../../tests/support/limit-of.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { compilePolicy } from '../algorithms/index.js';
import type { Answer, Call } from '../call/call.js';
import { StoreHealth } from '../health/store-health.js';
import { deciderOf } from '../limiter/limiter-options.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { RateChange } from '../stores/shared-rate.js';
import type { Store, StoreCaller } from '../stores/store.js';
import { Pipeline } from './pipeline.js';

const rule = compilePolicy(fixedWindow({ limit: 1, window: '1s' }));
const call: Call = {
  operation: 'consume',
  wait: 0,
  parts: [{ limit: limitOf(rule), key: 'k', cost: 1, at: 0 }],
};
const change: RateChange = { action: 'get', key: 'k' };
const LONG = 60_000_000;

const remote = (parts: Partial<Store>): Store => farStore(parts).store;
/** @param deadline µs */
const limited = (store: Store, deadline: number) =>
  new Pipeline(store, { deadline, denyCache: 0 }, memoryStore);

test('a store in this process has no deadline', () => {
  const store = memoryStore();
  expect(deciderOf(store, { deadline: 1, denyCache: 0 })).toBe(store);
});

test('a request without a reply rejects after the deadline, and is marked as abandoned', async () => {
  const marks: (StoreCaller | undefined)[] = [];
  const silent = (_: unknown, caller?: StoreCaller) => {
    marks.push(caller);
    return new Promise<never>(() => {});
  };
  const store = limited(remote({ decide: silent, rate: silent }), 5_000);
  await expect(store.decide(call)).rejects.toMatchObject({
    code: 'SLUICE_STORE_UNAVAILABLE',
    message: 'far store: no answer within 5 ms',
  });
  await expect(store.rate(change)).rejects.toThrow('no answer');
  expect(marks.map((mark) => [mark?.abandoned, mark?.deadline])).toEqual([
    [true, 5],
    [true, 5],
  ]);
});

test('a late failure after the deadline is ignored', async () => {
  let fail: (error: Error) => void = () => {};
  const late = new Promise<Answer>((_, reject) => {
    fail = reject;
  });
  await expect(limited(remote({ decide: () => late }), 1_000).decide(call)).rejects.toThrow('no answer');
  fail(new Error('too late'));
  await sleep(5); // an unhandled rejection would end the test run
});

test('replies and errors before the deadline pass unchanged', async () => {
  expect(await limited(remote({}), LONG).decide(call)).toMatchObject({ allowed: true });
  expect(await limited(remote({}), LONG).rate(change)).toMatchObject({ changed: false });
  const error = new Error('its own');
  const store = remote({ decide: () => Promise.reject(error) });
  await expect(limited(store, LONG).decide(call)).rejects.toBe(error);
});

test('an error that a store throws synchronously rejects the call and ends its deadline', async () => {
  const error = new Error('thrown, not rejected');
  const store = limited(
    remote({
      decide: () => {
        throw error;
      },
    }),
    1_000,
  );
  await expect((async () => store.decide(call))()).rejects.toBe(error);
  await sleep(10); // a deadline that still ran would cause an unhandled rejection
});

test('a reply that is no answer rejects the call', async () => {
  const store = remote({ decide: () => Promise.resolve(undefined as unknown as Answer) });
  await expect(limited(store, LONG).decide(call)).rejects.toThrow(TypeError);
});

test('the time to load the client does not count towards the deadline', async () => {
  const loading = sleep(50);
  const store = limited(remote({ loading }), 40_000);
  expect(await store.decide(call)).toMatchObject({ allowed: true });
  expect(await store.decide(call)).toMatchObject({ allowed: false });
});

test('if loading fails, each call rejects with its error', async () => {
  const loading = Promise.reject(new Error('not installed'));
  const store = limited(remote({ loading }), LONG);
  await expect(store.decide(call)).rejects.toThrow('not installed');
  await expect(store.decide(call)).rejects.toThrow('not installed');
});

test('without a connection, the connection error is the reason', async () => {
  const cause = new Error('connect ECONNREFUSED');
  const silent = () => new Promise<never>(() => {});
  const store = limited(remote({ decide: silent, health: new StoreHealth(() => cause) }), 5_000);
  await expect(store.decide(call)).rejects.toMatchObject({
    reason: 'connection',
    message: 'far store: no answer within 5 ms (connect ECONNREFUSED)',
    cause,
  });
});
