import { farStore } from '../../../../tests/support/far-store.js';
import { rejection } from '../../../../tests/support/rejection.js';
import { concurrency } from '../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { isLimiterClosedError, StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import type { Store } from '../stores/store.js';
import { RateLimiter } from './rate-limiter.js';

/** A store without a deadline or a circuit, like one in this process. */
const near = () => farStore({ remote: false });

const window = fixedWindow({ limit: 1, window: '1h' });
const slot = concurrency({ limit: 1, lease: '30s' });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a waiting acquire sends one request to the store', async () => {
  const { clock, store, operations } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: window, store });
  await limiter.acquire('k');
  const waiting = limiter.acquire('k');
  await clock.advance('1h');
  await waiting;
  expect(operations).toEqual(['acquire', 'acquire']);
});

test("waited counts the time slept, not the time of the store's reply", async () => {
  const { clock, store, hold } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: window, store });
  const answer = hold();
  const acquiring = limiter.acquire('k');
  await clock.advance('5s');
  answer();
  expect(await acquiring).toMatchObject({ waited: 0 });
});

test.each([
  ['window', window],
  ['slot', slot],
])('close during pending requests refunds what they took (%s)', async (_, policy) => {
  const { clock, store, hold, memory } = near();
  const limiter = new RateLimiter({ name: 'demo', policy, store });
  const answer = hold();
  const acquiring = Array.from({ length: 3 }, () => rejection(limiter.acquire('k')));
  await clock.advance(1);
  const closing = limiter.close();
  answer();
  await closing;
  for (const error of acquiring) expect(isLimiterClosedError(await error)).toBe(true);
  const after = new RateLimiter({ name: 'demo', policy, store: memory });
  expect(await after.peek('k')).toMatchObject({ remaining: 1, resetAfter: 0 });
});

test('an acquire aborted while the store is out rejects with the reason, and the permits stay spent', async () => {
  const { clock, store, refuse, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: window, store });
  await limiter.consume('k');
  const stop = new AbortController();
  const waiting = rejection(limiter.acquire('k', { signal: stop.signal }));
  await clock.advance(1);
  refuse('refund');
  stop.abort(new Error('enough'));
  expect(await waiting).toMatchObject({ message: 'enough' });
  mend();
  expect(await limiter.peek('k')).toMatchObject({ retryAfter: 7_200_000 - 1 });
});

test('a refund with an unknown outcome is not repeated', async () => {
  const { store, refuse, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: fixedWindow({ limit: 5, window: '1h' }), store });
  const decision = await limiter.consume('k', { cost: 2 });
  refuse('refund');
  await expect(limiter.refund(decision)).rejects.toThrow('gone');
  mend();
  await limiter.refund(decision);
  expect(await limiter.peek('k')).toMatchObject({ remaining: 3 });
});

test('a task keeps its lease through a store outage shorter than the lease, and is aborted after a longer one', async () => {
  const { clock, store, refuse, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  let signal: AbortSignal | undefined;
  let finish = () => {};
  const running = limiter.schedule('k', async (context) => {
    signal = context.signal;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await clock.advance('20s');
  refuse('renew');
  await clock.advance('15s');
  expect(signal!.aborted).toBe(false);
  mend();
  await clock.advance('5s'); // two renewals failed, and the third succeeded in time
  await clock.advance('1m');
  expect(signal!.aborted).toBe(false);
  expect(await limiter.peek('k')).toMatchObject({ allowed: false });
  refuse('renew');
  await clock.advance('40s');
  expect(String(signal!.reason)).toMatch(/the lease of 'demo' was lost/i);
  finish();
  await running;
});

test('a released permit is no longer renewed', async () => {
  const { clock, store, operations } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  await limiter.release(await limiter.consume('k'));
  await clock.advance('5m');
  expect(operations).toEqual(['consume', 'refund']);
});

test('a waiting call renews its place, and joins the queue again if its place expired', async () => {
  const { clock, store, memory, operations } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  const other = new RateLimiter({ name: 'demo', policy: slot, store: memory });
  const held = await other.acquire('k');
  const waiting = limiter.acquire('k');
  await clock.advance('25s');
  expect(operations.filter((operation) => operation === 'renew').length).toBeGreaterThanOrEqual(3);
  // Like a process that was suspended for longer than a lease: the clock jumps, and no call renews meanwhile.
  clock.set(clock.now() + 60_000_000);
  const usurper = await other.acquire('k');
  await other.release(held);
  await clock.advance('10s');
  await other.release(usurper);
  await turn();
  expect(await waiting).toMatchObject({ allowed: true });
});

test('a call admitted during an outage polls with pauses until the store is back', async () => {
  const { clock, store, memory, operations, refuse, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  const other = new RateLimiter({ name: 'demo', policy: slot, store: memory });
  const held = await other.acquire('k');
  const waiting = limiter.acquire('k');
  await clock.advance(1);
  refuse('renew');
  const before = operations.length;
  await other.release(held);
  await clock.advance('15s');
  expect(operations.length - before).toBeLessThan(10);
  mend();
  await clock.advance('10s');
  expect(await waiting).toMatchObject({ allowed: true });
});

test('an outage shorter than a lease does not cost a waiting call its place in the queue', async () => {
  const { clock, store, refuse, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  const held = await limiter.acquire('k');
  const waiting = limiter.acquire('k');
  await clock.advance(1);
  refuse('renew');
  await clock.advance('15s');
  mend();
  await limiter.release(held);
  await clock.advance('10s');
  expect(await waiting).toMatchObject({ allowed: true });
});

test('a waiting call rejects if the store fails for a whole lease, and leaves the queue', async () => {
  const { clock, store, refuse, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  const held = await limiter.acquire('k');
  const waiting = rejection(limiter.acquire('k'));
  await clock.advance(1);
  refuse('renew');
  await clock.advance('60s');
  expect(await waiting).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' });
  mend();
  await limiter.release(held);
  expect(await limiter.peek('k')).toMatchObject({ remaining: 1 });
});

/** A store whose subscriptions start only after `begin` is called. */
function slowToListen() {
  const far = near();
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let listening = 0;
  const store: Store = {
    ...far.store,
    listen: async (key, granted) => {
      await begun;
      const stop = await far.memory.listen(key, granted);
      listening += 1;
      return () => {
        listening -= 1;
        stop();
      };
    },
  };
  return { ...far, store, begin, listening: () => listening };
}

test('a waiting call polls until its subscription starts, then checks once more', async () => {
  const { clock, store, begin, operations } = slowToListen();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  const held = await limiter.acquire('k');
  const waits = [limiter.acquire('k'), limiter.acquire('k')];
  await clock.advance('10s');
  const polls = operations.filter((operation) => operation === 'renew').length;
  expect([polls >= 4, polls <= 20]).toEqual([true, true]);
  await limiter.release(held);
  await clock.advance('10s');
  await limiter.release(await waits[0]!);
  begin(); // without advancing the clock
  expect(await waits[1]).toMatchObject({ allowed: true });
});

test('a subscription that starts after its call has ended is dropped', async () => {
  const { clock, store, begin, listening } = slowToListen();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  const held = await limiter.acquire('k');
  const waiting = limiter.acquire('k');
  await clock.advance('1s');
  await limiter.release(held);
  await clock.advance('10s');
  await waiting;
  begin();
  await turn();
  expect(listening()).toBe(0);
});

test('a temporary subscription error is retried, a permanent one rejects the call', async () => {
  const { clock, store, memory } = near();
  let refusal: Error | undefined = new StoreUnavailableError('busy', { reason: 'BUSY' });
  const listen: Store['listen'] = async (key, granted) => {
    if (refusal !== undefined) throw refusal;
    return memory.listen(key, granted);
  };
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store: { ...store, listen } });
  const held = await limiter.acquire('k');
  const waiting = limiter.acquire('k');
  await clock.advance('5s');
  refusal = undefined;
  await clock.advance('10s');
  await limiter.release(held); // without advancing the clock
  await waiting;
  refusal = new StoreConfigurationError('this client cannot subscribe');
  expect(await rejection(limiter.acquire('k'))).toBe(refusal);
});

test('an override keeps the lease, so that holders renew in time when it begins and when it ends', async () => {
  const { clock, store } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: slot, store });
  const held = await limiter.acquire('k');
  const isHeld = async () => {
    await clock.advance('5s');
    expect(await limiter.peek('k')).toMatchObject({ allowed: false, window: 30_000 });
  };
  for (const lease of ['3s', '10m']) {
    await limiter.override('k', concurrency({ limit: 1, lease }), { expiresIn: '1h' });
    for (let i = 0; i < 10; i += 1) await isHeld();
    await limiter.removeOverride('k');
    for (let i = 0; i < 10; i += 1) await isHeld();
  }
  await limiter.release(held);
});

test('settling a reservation releases its held permits', async () => {
  const { clock, store } = near();
  const policies = { slots: concurrency({ limit: 2 }), tokens: fixedWindow({ limit: 100, window: '1h' }) };
  const limiter = new RateLimiter({ name: 'demo', policies, store });
  const reservation = await limiter.reserve('k', { tokens: 40 });
  await clock.advance('1m');
  expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 1 }, { remaining: 60 }]);
  await reservation.settle({ tokens: 70, slots: 2 });
  expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 2 }, { remaining: 30 }]);
});

test('closing the store rejects a queued call at its next poll, before its lease ends', async () => {
  const { clock, store: far } = farStore();
  let closed = false;
  const store: Store = {
    ...far,
    decide: async (call) => {
      if (closed) throw new StoreUnavailableError('it was closed', { reason: 'closed' });
      return far.decide(call);
    },
  };
  const limiter = new RateLimiter({ name: 'line', policy: concurrency({ limit: 1, lease: '30s' }), store });
  await limiter.acquire('k');
  let error: unknown;
  const waiting = limiter.acquire('k').catch((reason: unknown) => {
    error = reason;
  });
  await clock.advance('1s');
  closed = true;
  await clock.advance('10s');
  expect(error).toMatchObject({ reason: 'closed' });
  await waiting;
  await limiter.close();
});

test('a settlement that was never sent leaves the reservation open for one more settlement', async () => {
  const { store, fail, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: fixedWindow({ limit: 10, window: '1h' }), store });
  const [less, more, cancelled] = [
    await limiter.reserve('k', 3),
    await limiter.reserve('k', 1),
    await limiter.reserve('k', 2),
  ];
  fail(new StoreUnavailableError('no connection', { neverSent: true }));
  await expect(less.settle(1)).rejects.toThrow('no connection');
  await expect(more.settle(4)).rejects.toThrow('no connection');
  await expect(cancelled.cancel()).rejects.toThrow('no connection');
  mend();
  await less.settle(2);
  await more.settle(5);
  await cancelled.cancel();
  await cancelled.cancel();
  await expect(less.settle(2)).rejects.toThrow('already settled or cancelled');
  expect(await limiter.peek('k')).toMatchObject({ remaining: 3 });
});

test('a reservation that could not be settled is not given back by cancel', async () => {
  const { store, fail, mend } = near();
  const policies = { slots: concurrency({ limit: 9 }), tokens: fixedWindow({ limit: 100, window: '1h' }) };
  const limiter = new RateLimiter({ name: 'demo', policies, store });
  const reserved = () => limiter.reserve('k', { tokens: 10 });
  const [wrong, late] = [await reserved(), await reserved()];
  await expect(wrong.settle({ tokens: Number.NaN })).rejects.toThrow(RangeError);
  await wrong.cancel(); // the estimate counts
  fail(new StoreUnavailableError('no connection', { neverSent: true }));
  await expect(late.settle({ tokens: 25 })).rejects.toThrow('no connection');
  mend();
  await late.cancel();
  await late.cancel();
  expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 9 }, { remaining: 65 }]);
  await expect(wrong.settle({ tokens: 1 })).rejects.toThrow('already settled or cancelled');
});

test('a settlement with an unknown outcome cannot be repeated, and the error says so', async () => {
  const { store, refuse, mend } = near();
  const limiter = new RateLimiter({ name: 'demo', policy: fixedWindow({ limit: 10, window: '1h' }), store });
  const reservation = await limiter.reserve('k', 3);
  refuse('refund');
  await expect(reservation.settle(1)).rejects.toThrow('gone');
  mend();
  await expect(reservation.settle(1)).rejects.toThrow('the outcome of that call is unknown');
  await reservation.cancel();
  expect(await limiter.peek('k')).toMatchObject({ remaining: 7 });
});
