import { setTimeout as sleep } from 'node:timers/promises';
import { type FarStore, farStore } from '../../../../tests/support/far-store.js';
import { rejection } from '../../../../tests/support/rejection.js';
import { StoreHealth } from '../health/store-health.js';
import {
  CombinedLimiter,
  concurrency,
  type FailurePolicy,
  fixedWindow,
  isRateLimitExceededError,
  isStoreConfigurationError,
  isStoreUnavailableError,
  RateLimiter,
  SharedLimiter,
  type Store,
  StoreConfigurationError,
  type StoreEvents,
  StoreUnavailableError,
} from '../index.js';

const window = fixedWindow({ limit: 4, window: '1h' });

const open: { close(): unknown }[] = [];
/** A store that can be out, with the events that it emits. */
function far(nodeOf?: (key: string) => string) {
  const health = new StoreHealth(() => undefined);
  const events: [keyof StoreEvents, unknown][] = [];
  for (const event of ['storeError', 'degraded', 'recovered'] as const) {
    health.on(event, (message) => events.push([event, message]));
  }
  const one = farStore({ health, ...(nodeOf && { nodeOf, slotted: true }) });
  open.push({ close: () => health.end() }, one.store);
  return { ...one, events };
}
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
/** The requests of calls. While the store is out, it also gets peeks, as probes. */
const callsTo = ({ operations }: FarStore) => operations.filter((operation) => operation !== 'peek');

const limiterOf = ({ store }: FarStore, failurePolicy?: FailurePolicy, name = 'demo') =>
  new RateLimiter({ name, policy: window, store, failurePolicy });

test("'local' counts in this process, and marks decisions as degraded", async () => {
  const one = far();
  const limiter = limiterOf(one);
  expect(await limiter.consume('k')).toMatchObject({ degraded: false, source: 'far', remaining: 3 });
  one.fail();
  for (const remaining of [3, 2, 1, 0]) {
    expect(await limiter.consume('k')).toMatchObject({
      allowed: true,
      degraded: true,
      source: 'local',
      remaining,
    });
  }
  expect(await limiter.consume('k')).toMatchObject({ allowed: false, degraded: true, retryAfter: 3_600_000 });
  expect(await limiter.peek('other')).toMatchObject({ allowed: true, degraded: true, limit: 4 });
});

test('a share of the limit is the limit of its decisions', async () => {
  const one = far();
  const limiter = limiterOf(one, { local: { share: 0.5 } });
  one.fail();
  expect(await limiter.consume('k')).toMatchObject({ allowed: true, limit: 2, remaining: 1 });
  await limiter.consume('k');
  expect(await limiter.consume('k')).toMatchObject({ allowed: false, limit: 2 });
});

test('limiters of one name in one store share a count while the store is out', async () => {
  const one = far();
  one.fail();
  await limiterOf(one).consume('k', { cost: 3 });
  expect(await limiterOf(one).consume('k')).toMatchObject({ remaining: 0 });
});

test("'allow' and 'deny' return decisions; acquire, reserve and schedule reject under 'deny'", async () => {
  const one = far();
  one.fail();
  expect(await limiterOf(one, 'allow').consume('k', { cost: 9 })).toMatchObject({
    allowed: true,
    degraded: true,
    source: 'allow',
    retryAfter: 0,
  });
  const denying = limiterOf(one, 'deny');
  expect(await denying.consume('k')).toMatchObject({
    allowed: false,
    degraded: true,
    source: 'deny',
    remaining: 0,
    retryAfter: 1000,
  });
  for (const call of [denying.acquire('k'), denying.reserve('k', 1), denying.schedule('k', () => 1)]) {
    const error = await rejection(call);
    expect(isStoreUnavailableError(error) && error).toMatchObject({
      reason: 'READONLY',
      decision: { source: 'deny' },
      headers: { 'Retry-After': '1' },
      message: "Rate limit 'demo' denies until its store is back (READONLY)",
    });
  }
});

test('a function chooses for each call, and its error rejects the call', async () => {
  const one = far();
  one.fail();
  const limiter = limiterOf(one, ({ reason, error, limiter: name }) => {
    if (name === 'demo' && reason === 'READONLY') throw error;
    return 'allow';
  });
  expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);
  one.fail(new StoreUnavailableError('gone', { reason: 'BUSY' }));
  expect(await limiter.consume('k')).toMatchObject({ allowed: true, source: 'allow' });
});

test('a function is called once for each limiter of a decision, for all its policies', async () => {
  const one = far();
  one.fail();
  const called: string[] = [];
  const failurePolicy: FailurePolicy = ({ limiter }) => {
    called.push(limiter);
    return 'allow';
  };
  const several = new RateLimiter({
    name: 'several',
    policies: { first: window, second: window },
    store: one.store,
    failurePolicy,
  });
  await several.consume('k');
  expect(called.splice(0)).toEqual(['several']);
  const single = limiterOf(one, failurePolicy, 'single');
  await new CombinedLimiter({ several, single }).consume({ several: 'k', single: 'k' });
  expect(called).toEqual(['several', 'single']);
});

test('waits, leases and refunds of fallback permits stay in the fallback', async () => {
  const one = far();
  one.fail();
  const limiter = limiterOf(one);
  const decision = await limiter.consume('k', { cost: 4 });
  const waiting = limiter.acquire('k', { timeout: '2h' });
  await one.clock.advance('1h');
  expect(await waiting).toMatchObject({ degraded: true, waited: 3_600_000 });
  one.mend();
  await limiter.refund(decision); // expired, and not a permit of the store
  const slots = new RateLimiter({ name: 'slots', policy: concurrency({ limit: 1 }), store: one.store });
  one.fail();
  const held = await slots.acquire('k');
  const next = slots.acquire('k');
  await one.clock.advance('5m'); // the fallback renews its lease
  one.mend();
  await slots.release(held);
  expect(await next).toMatchObject({ allowed: true, degraded: true, source: 'local' });
  await slots.close();
});

test('a reservation of the fallback is settled there, also for more than its estimate', async () => {
  const one = far();
  const limiter = limiterOf(one);
  await limiter.consume('k');
  one.fail();
  const reservation = await limiter.reserve('k', 1);
  await reservation.settle(3);
  expect(await limiter.peek('k')).toMatchObject({ degraded: true, remaining: 1 });
  one.mend();
  expect(await limiter.peek('k')).toMatchObject({ degraded: false, remaining: 3 });
});

test('a misconfigured store rejects calls without the failure policy, and the circuit stays closed', async () => {
  const one = far();
  one.fail(new StoreConfigurationError('foreign value', { reason: 'WRONGTYPE' }));
  for (let i = 0; i < 9; i += 1) {
    expect(isStoreConfigurationError(await rejection(limiterOf(one, 'allow').consume('k')))).toBe(true);
  }
  expect(one.operations.length).toBe(9);
  await sleep(1);
  expect(one.events).toEqual([['storeError', expect.objectContaining({ reason: 'WRONGTYPE' })]]);
});

test('a missing right is decided by the failure policy, and the next call is still sent', async () => {
  const one = far();
  const granted = limiterOf(one, 'deny', 'granted');
  const error = new StoreUnavailableError('no right', { reason: 'NOPERM' });
  for (let i = 0; i < 9; i += 1) {
    one.fail(error);
    expect(await limiterOf(one, 'allow').consume('k')).toMatchObject({ allowed: true, source: 'allow' });
    expect(await rejection(limiterOf(one, 'allow').block('k', '1m'))).toBe(error);
  }
  expect(one.operations.length).toBe(18);
  one.mend();
  expect(await granted.consume('k')).toMatchObject({ allowed: true, source: 'far' });
  await sleep(1);
  expect(one.events).toEqual([['storeError', expect.objectContaining({ reason: 'NOPERM' })]]);
});

test('a missing right to subscribe lets the failure policy decide the wait, and emits an event', async () => {
  const one = far();
  const error = new StoreUnavailableError('no right to subscribe', { reason: 'NOPERM' });
  const store: Store = { ...one.store, listen: () => Promise.reject(error) };
  const slots = new RateLimiter({
    name: 'slots',
    policy: concurrency({ limit: 1 }),
    store,
    failurePolicy: 'allow',
  });
  const held = await slots.acquire('k');
  expect(await slots.acquire('k')).toMatchObject({ allowed: true, source: 'allow' });
  await slots.release(held);
  expect(await slots.peek('k')).toMatchObject({ source: 'far', remaining: 1 }); // no call waits
  await sleep(1);
  expect(one.events).toEqual([['storeError', expect.objectContaining({ reason: 'NOPERM' })]]);
});

test('a store known to be out gets no calls; once back it decides again; each change emits one event', async () => {
  const one = far();
  const limiter = limiterOf(one);
  one.fail();
  for (let i = 0; i < 20; i += 1) await limiter.consume('k');
  expect(callsTo(one)).toHaveLength(5);
  const refused = await rejection(limiter.block('k', '1m'));
  expect(isStoreUnavailableError(refused) && refused.message).toMatch(
    /gone; the store is out, and calls are not sent until/,
  );
  one.mend();
  while ((await limiter.consume('k')).degraded) await sleep(5);
  await sleep(1);
  expect(one.events).toEqual([
    ['storeError', expect.objectContaining({ reason: 'READONLY', node: undefined })],
    ['degraded', expect.objectContaining({ reason: 'READONLY', connectionError: undefined })],
    ['recovered', { store: '', address: undefined, node: undefined, after: expect.any(Number) }],
  ]);
});

test('another reason emits an event, the same reason does not', async () => {
  const one = far();
  const limiter = limiterOf(one);
  for (const reason of ['timeout', 'timeout', 'OOM', 'timeout'] as const) {
    one.fail(new StoreUnavailableError('out', { reason }));
    await limiter.consume('k');
  }
  await sleep(1);
  expect(one.events.map(([, message]) => (message as { reason: string }).reason)).toEqual([
    'timeout',
    'OOM',
    'timeout',
  ]);
});

test('in a cluster, only the node that is out gets no calls, and events name it', async () => {
  const one = far((key) => (key.includes('{a}') ? 'host:1' : 'host:2'));
  const limiter = limiterOf(one);
  one.fail();
  for (let i = 0; i < 5; i += 1) await limiter.consume('a');
  one.mend();
  one.refuse('peek'); // otherwise a probe may find the node back before the next call
  expect(await limiter.consume('a')).toMatchObject({ degraded: true });
  expect(await limiter.consume('b')).toMatchObject({ degraded: false });
  await sleep(1);
  expect(one.events.map(([event, message]) => [event, (message as { node: string }).node])).toEqual([
    ['storeError', 'host:1'],
    ['degraded', 'host:1'],
  ]);
});

test('of several limiters in a combination, the strictest policy applies', async () => {
  const one = far();
  one.fail();
  const combined = (a: FailurePolicy, b: FailurePolicy) =>
    new CombinedLimiter({ a: limiterOf(one, a, 'a'), b: limiterOf(one, b, 'b') }).consume({ a: 'k', b: 'k' });
  expect(await combined('allow', 'allow')).toMatchObject({ allowed: true, source: 'allow' });
  expect(await combined('allow', 'local')).toMatchObject({ allowed: true, source: 'local' });
  expect(await combined('local', 'deny')).toMatchObject({ allowed: false, source: 'deny' });
  const shares = await combined({ local: { share: 0.25 } }, 'local');
  expect(shares).toMatchObject({ allowed: false, policy: 'a', limit: 1 });
});

test('a closed store is not out: later calls reject with its error', async () => {
  const one = far();
  one.fail(new StoreUnavailableError('it was closed', { reason: 'closed' }));
  expect(isStoreUnavailableError(await rejection(limiterOf(one, 'allow').consume('k')))).toBe(true);
});

test('a shared rate has no fallback: its calls reject, at once if the store is known to be out', async () => {
  const one = far();
  const shared = new SharedLimiter({ name: 'shared', store: one.store });
  await shared.trySetRate({ rate: 1, interval: '1h' });
  one.fail();
  for (let i = 0; i < 7; i += 1) {
    expect(isStoreUnavailableError(await rejection(shared.tryAcquire()))).toBe(true);
    expect(isStoreUnavailableError(await rejection(shared.getConfig()))).toBe(true);
  }
  expect(callsTo(one)).toHaveLength(1 + 5);
  one.mend();
  while ((await rejection(shared.getConfig())) !== undefined) await sleep(5);
  expect(await shared.tryAcquire()).toBe(true);
});

test('a denial of the fallback is a RateLimitExceededError', async () => {
  const one = far();
  one.fail();
  const limiter = limiterOf(one);
  await limiter.consume('k', { cost: 4 });
  expect(isRateLimitExceededError(await rejection(limiter.acquire('k', { timeout: 0 })))).toBe(true);
});

test('timeouts of a limiter with a short deadline open the circuit only until the store answers', async () => {
  const { store } = far();
  let arrive = () => {};
  const trip = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const decide: Store['decide'] = async (call) => {
    await trip; // not a timer: a busy machine would extend the deadline
    return store.decide(call);
  };
  const slow: Store = { ...store, decide };
  const hasty = new RateLimiter({ name: 'hasty', policy: window, store: slow, deadline: '1ms' });
  const patient = new RateLimiter({ name: 'patient', policy: window, store: slow, deadline: '10s' });
  for (let i = 0; i < 5; i += 1) await hasty.consume('k');
  expect(await patient.consume('k')).toMatchObject({ degraded: true });
  arrive();
  while ((await patient.peek('k')).degraded) await sleep(10);
});

test('a closed store emits no error', async () => {
  const one = far();
  one.fail(new StoreUnavailableError('it was closed', { reason: 'closed' }));
  expect(await rejection(limiterOf(one).consume('k'))).toMatchObject({ reason: 'closed' });
  await sleep(0);
  expect(one.events).toEqual([]);
});

test('on rejects an unknown event', () => {
  expect(() => far().store.health!.on('degrade' as never, () => {})).toThrow(
    'A store has no event "degrade"; its events are storeError, degraded, recovered',
  );
});
