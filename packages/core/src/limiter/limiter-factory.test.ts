import { eventually } from '../../../../tests/support/eventually.js';
import { concurrency } from '../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { slidingLog } from '../algorithms/sliding-log/sliding-log.js';
import { ManualClock } from '../clock.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { LimiterFactory, type LimiterFactoryOptions } from './limiter-factory.js';
import { RateLimiter } from './rate-limiter.js';

const twoAnHour = () => fixedWindow({ limit: 2, window: '1h' });

test('creates one limiter per name, and each name has its own count', async () => {
  const limiters = new LimiterFactory();
  const policy = jest.fn(twoAnHour);
  for (const tenant of ['a', 'b', 'a', 'b']) {
    expect(await limiters.get(tenant, policy).consume('user')).toMatchObject({ allowed: true, name: tenant });
  }
  expect(policy).toHaveBeenCalledTimes(2);
  expect(await limiters.get('a', policy).consume('user')).toMatchObject({ allowed: false });
  expect(limiters.get('a', policy)).toBe(limiters.get('a', policy));
  await limiters.close();
});

test('several policies of a limiter take permits together, or none do', async () => {
  const limiters = new LimiterFactory();
  const limiter = limiters.get('tenant', () => ({
    burst: slidingLog({ limit: 1, window: '1m' }),
    hourly: twoAnHour(),
  }));
  await limiter.consume('user');
  expect(await limiter.consume('user')).toMatchObject({ allowed: false, policy: 'burst' });
});

test('a limiter of a factory shares its count with a RateLimiter of the same name, store and policy', async () => {
  const store = memoryStore();
  await new LimiterFactory({ store }).get('tenant', twoAnHour).consume('user', { cost: 2 });
  const limiter = new RateLimiter({ name: 'tenant', policy: twoAnHour(), store });
  expect(await limiter.consume('user')).toMatchObject({ allowed: false });
});

test('20,000 names keep 1000 limiters, and no state after the counts expire', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limiters = new LimiterFactory({ store });
  for (let name = 0; name < 20_000; name += 1) limiters.get(`tenant-${name}`, twoAnHour).consumeSync('user');
  expect([limiters.size, store.size]).toEqual([1000, 20_000]);
  // A dropped limiter is created again and still knows what its keys have taken.
  expect(limiters.get('tenant-0', twoAnHour).consumeSync('user')).toMatchObject({ remaining: 0 });
  await clock.advance('2h');
  await eventually(async () => store.size === 0);
  await limiters.close();
});

test('keeps the most recently used limiters', () => {
  const limiters = new LimiterFactory({ max: 2 });
  const [a, b] = ['a', 'b'].map((name) => limiters.get(name, twoAnHour));
  expect(limiters.get('a', twoAnHour)).toBe(a);
  limiters.get('c', twoAnHour);
  expect(limiters.get('a', twoAnHour)).toBe(a);
  expect(limiters.get('b', twoAnHour)).not.toBe(b);
});

test('a limiter with a waiting call or a held permit is not dropped, and close ends both', async () => {
  const limiters = new LimiterFactory({ max: 1, store: memoryStore({ clock: new ManualClock() }) });
  const waiting = limiters.get('waiting', () => fixedWindow({ limit: 1, window: '1h' }));
  await waiting.consume('user');
  const waits = waiting.acquire('user');
  const holding = limiters.get('holding', () => concurrency({ limit: 1 }));
  const decision = await holding.acquire('user');
  for (let name = 0; name < 50; name += 1) limiters.get(`other-${name}`, twoAnHour);
  expect(limiters.get('waiting', twoAnHour)).toBe(waiting);
  expect(limiters.get('holding', twoAnHour)).toBe(holding);
  const closing = limiters.close();
  await expect(waits).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
  await closing;
  expect(decision.allowed).toBe(true);
});

test('close also ends the waits of a limiter that was deleted', async () => {
  const store = memoryStore({ clock: new ManualClock() });
  const limiters = new LimiterFactory({ store });
  const starter = limiters.get('tenant', () => fixedWindow({ limit: 1, window: '1h' }));
  await starter.consume('user');
  const waits = starter.acquire('user').catch((error: unknown) => error);
  limiters.delete('tenant'); // a change of plan
  expect(await limiters.get('tenant', twoAnHour).consume('other')).toMatchObject({ limit: 2 });
  await limiters.close();
  const last = new RateLimiter({ name: 'tenant', policy: twoAnHour(), store });
  expect(await last.peek('user')).toMatchObject({ remaining: 1 }); // the booking was given back
  expect(await Promise.race([waits, 'waits'])).toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
});

test('after delete, a name gets its new policy and keeps its count', async () => {
  const limiters = new LimiterFactory();
  await limiters.get('tenant', twoAnHour).consume('user', { cost: 2 });
  expect(limiters.delete('tenant')).toBe(true);
  expect(limiters.delete('tenant')).toBe(false);
  const fiveAnHour = () => fixedWindow({ limit: 5, window: '1h' });
  expect(await limiters.get('tenant', fiveAnHour).consume('user')).toMatchObject({ limit: 5, remaining: 2 });
});

test('a policy function that throws or returns no policy creates no limiter', async () => {
  const limiters = new LimiterFactory();
  const unknownPlan = () => {
    throw new Error('no such plan');
  };
  expect(() => limiters.get('a', unknownPlan)).toThrow('no such plan');
  expect(() => limiters.get('a', (() => undefined) as never)).toThrow("the policy of 'a' must be a policy");
  expect(() => limiters.get('a b', twoAnHour)).toThrow('RateLimiter: name must be');
  expect(limiters.size).toBe(0);
});

test.each<[object, string]>([
  [{ max: 0 }, 'LimiterFactory: max must be a whole number from 1 to 1000000, not 0'],
  [{ name: 'x' }, "LimiterFactory has no option 'name'"],
  [{ deadline: -1 }, 'RateLimiter: deadline'],
  [{ store: {} }, 'store must be memoryStore() or redisStore(…)'],
])('rejects %p', (options, message) => {
  expect(() => new LimiterFactory(options as LimiterFactoryOptions)).toThrow(message);
});

test('closes its own store and limiters, and leaves a given store open', async () => {
  const store = memoryStore();
  const limiters = new LimiterFactory({ store });
  const limiter = limiters.get('tenant', twoAnHour);
  await limiter.consume('user');
  await limiters.close();
  expect(() => limiters.get('tenant', twoAnHour)).toThrow("'tenant'");
  await expect(limiter.consume('user')).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
  expect(store.size).toBe(1);
  await store.close();
});

test('notify by policy name is checked when a limiter is created', async () => {
  const limiters = new LimiterFactory({ notify: { perMonth: ['80%'] } });
  const perMonth = fixedWindow({ limit: 5, window: '1 month' });
  expect(limiters.get('a', () => ({ perMonth })).policies).toEqual({ perMonth });
  expect(() => limiters.get('b', () => ({ perDay: perMonth }))).toThrow("there is no policy 'perMonth'");
  await limiters.close();
});
