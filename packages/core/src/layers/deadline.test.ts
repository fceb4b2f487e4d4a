import { setTimeout as sleep } from 'node:timers/promises';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { compilePolicy } from '../algorithms/index.js';
import { memoryStore } from '../stores/memory-store.js';
import type { Answer, Asked, Call, Store } from '../stores/store.js';
import { withDeadline } from './deadline.js';

const rule = compilePolicy(fixedWindow({ limit: 1, window: '1s' }));
const call = (): Call => ({ key: 'k', rule, operation: 'consume', cost: 1, maxWait: 0, at: 0 });
const LONG = 60_000_000;

function remote(parts: Partial<Store>): Store {
  const memory = memoryStore();
  return {
    name: 'far',
    remote: true,
    clock: memory.clock,
    decide: (asked) => memory.decide(asked),
    reset: (key) => memory.reset(key),
    close: () => memory.close(),
    ...parts,
  };
}

test('a store in this process has no deadline', () => {
  const store = memoryStore();
  expect(withDeadline(store, 1)).toBe(store);
});

test('a call that is not answered in time is an error, and marked as given up', async () => {
  const store = withDeadline(remote({ decide: () => new Promise(() => {}) }), 5_000);
  const asked = call();
  await expect(store.decide(asked)).rejects.toMatchObject({
    code: 'SLUICE_STORE_UNAVAILABLE',
    message: 'far store: no answer within 5 ms',
  });
  expect(asked.abandoned).toBe(true);
  let resetting: Asked | undefined;
  const silent = remote({
    reset: (_key, given) => {
      resetting = given;
      return new Promise(() => {});
    },
  });
  await expect(withDeadline(silent, 5_000).reset('k')).rejects.toThrow('no answer');
  expect(resetting?.abandoned).toBe(true);
});

test('an answer and a late failure after the deadline are ignored', async () => {
  let fail: (error: Error) => void = () => {};
  const late = new Promise<Answer>((_, reject) => {
    fail = reject;
  });
  await expect(withDeadline(remote({ decide: () => late }), 1_000).decide(call())).rejects.toThrow(
    'no answer',
  );
  fail(new Error('too late to be told'));
  await sleep(5); // an unhandled rejection would end the test run
});

test('answers and errors in time pass as they are', async () => {
  expect(await withDeadline(remote({}), LONG).decide(call())).toMatchObject({ allowed: true });
  const error = new Error('its own');
  const store = remote({ decide: () => Promise.reject(error) });
  await expect(withDeadline(store, LONG).decide(call())).rejects.toBe(error);
});

test('what this process has to load first does not count', async () => {
  const loading = sleep(50);
  const store = withDeadline(remote({ loading }), 40_000);
  expect(await store.decide(call())).toMatchObject({ allowed: true });
  expect(await store.decide(call())).toMatchObject({ allowed: false });
});

test('what cannot be loaded is told to each call', async () => {
  const loading = Promise.reject(new Error('not installed'));
  const store = withDeadline(remote({ loading }), LONG);
  await expect(store.decide(call())).rejects.toThrow('not installed');
  await expect(store.decide(call())).rejects.toThrow('not installed');
});
