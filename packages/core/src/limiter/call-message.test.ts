import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import { farStore } from '../../../../tests/support/far-store.js';
import { Messages } from '../../../../tests/support/messages.js';
import { uniqueName } from '../../../../tests/support/redis-url.js';
import { rejection } from '../../../../tests/support/rejection.js';
import { concurrency } from '../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { ManualClock } from '../clock.js';
import { isLimiterClosedError, StoreConfigurationError } from '../errors.js';
import { StoreHealth } from '../health/store-health.js';
import { SharedLimiter } from '../shared-limiter/shared-limiter.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { DecideMessage } from './call-message.js';
import { CombinedLimiter } from './combined-limiter.js';
import type { RateLimiterOptions } from './limiter-options.js';
import { RateLimiter } from './rate-limiter.js';

const closers: { close?(): unknown; stop?(): unknown }[] = [];
afterEach(async () => {
  for (const one of closers.splice(0).reverse()) await (one.close?.() ?? one.stop?.());
});
const open = <T extends { close?(): unknown } | { stop?(): unknown }>(one: T): T => {
  closers.push(one);
  return one;
};

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });

function setUp(options: Partial<RateLimiterOptions> = {}, recorded = {}) {
  const clock = new ManualClock();
  const name = uniqueName('demo');
  const limiter = open(
    new RateLimiter({
      name,
      ...(options.policies === undefined && { policy: hourly(1) }),
      store: memoryStore({ clock }),
      ...options,
    } as RateLimiterOptions),
  );
  const messages = open(new Messages(name, recorded));
  return { clock, name, limiter, messages };
}

describe('the message of a call', () => {
  test('has the fields of the call and its decision', async () => {
    const { name, limiter, messages } = setUp();
    const before = performance.now();
    const allowed = await limiter.consume('ann');
    const denied = limiter.consumeSync('ann', { cost: 3, shadow: true });
    const after = performance.now();
    const [first, second] = messages.on('sluice:decision');
    expect(first!.decision).toBe(allowed);
    expect(second!.decision).toBe(denied);
    const both = {
      limiter: name,
      operation: 'consume',
      policy: name,
      key: 'ann',
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      error: undefined,
    };
    expect((first as DecideMessage).toJSON()).toEqual({
      ...both,
      mode: 'enforce',
      cost: 1,
      result: 'allowed',
      decision: allowed,
      parts: [{ policy: name, key: 'ann', cost: 1 }],
    });
    expect((second as DecideMessage).toJSON()).toEqual({
      ...both,
      mode: 'shadow',
      cost: 3,
      result: 'denied',
      decision: denied,
      parts: [{ policy: name, key: 'ann', cost: 3 }],
    });
    for (const { startedAt, endedAt } of [first!, second!]) {
      expect(startedAt).toBeGreaterThanOrEqual(before);
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
      expect(endedAt).toBeLessThanOrEqual(after);
    }
    expect(JSON.parse(JSON.stringify(first))).toMatchObject({ key: 'ann', parts: [{ key: 'ann' }] });
    expect(inspect(first)).toContain("parts: [ { policy: 'demo");
  });

  test('names the policy that decided, with its key and cost', async () => {
    const { limiter, messages } = setUp({ policies: { wide: hourly(9), narrow: hourly(2) } });
    await limiter.consume('ann', { cost: { wide: 3 } });
    await limiter.consume('ann', { cost: { wide: 7 } });
    await limiter.consume('ann', { cost: { narrow: 2 } });
    expect(messages.on('sluice:decision').map(({ policy, cost, result }) => [policy, cost, result])).toEqual([
      ['narrow', 1, 'allowed'],
      ['wide', 7, 'denied'],
      ['narrow', 2, 'denied'],
    ]);
    expect(messages.on('sluice:decision')[1]!.parts).toEqual([
      { policy: 'wide', key: 'ann', cost: 7 },
      { policy: 'narrow', key: 'ann', cost: 1 },
    ]);
  });

  test('of a combination is one message with the key of each member, also if two keys are equal', async () => {
    const store = memoryStore();
    const [sender, all] = [uniqueName('sender'), uniqueName('all')];
    const member = (name: string, limit: number) => new RateLimiter({ name, policy: hourly(limit), store });
    const from = member(sender, 2);
    const pair = new CombinedLimiter({ from, to: from, all: member(all, 9) }, { name: uniqueName('pair') });
    const messages = open(new Messages(pair.name));
    await pair.consume({ from: 'ann', to: 'bob', all: 'x' });
    await pair.consume({ from: 'bob', to: 'bob', all: 'x' });
    expect(messages.log).toEqual(['decision allowed', 'decision denied']);
    const [first, second] = messages.on('sluice:decision');
    expect([first!.limiter, first!.policy, first!.key]).toEqual([pair.name, 'from', 'ann']);
    expect([second!.policy, second!.key]).toEqual(['from', 'bob']);
    expect(second!.parts.map(({ policy, key }) => `${policy} ${key}`)).toEqual([
      'from bob',
      'to bob',
      'all x',
    ]);
  });

  test("of a shared limit has the key 'all'", async () => {
    const limiter = new SharedLimiter({ name: uniqueName('shared'), store: memoryStore() });
    await limiter.setRate({ mode: 'OVERALL', rate: 1, interval: '1h' });
    const messages = open(new Messages(limiter.name, { traced: true }));
    await limiter.availablePermits();
    expect(messages.log).toEqual(['start', 'end']);
    await limiter.tryAcquire();
    await limiter.tryAcquire();
    const decisions = messages
      .on('sluice:decision')
      .map(({ key, operation, result }) => [key, operation, result]);
    expect(decisions).toEqual([
      ['all', 'acquire', 'allowed'],
      ['all', 'acquire', 'denied'],
    ]);
  });

  test('is not published for a call that is rejected before its decision', async () => {
    const { limiter, messages } = setUp({}, { traced: true });
    const refused = [
      limiter.consume(undefined as never),
      limiter.consume('k', { cost: -1 }),
      limiter.consume('k', { shadow: 1 as never }),
      limiter.acquire('k', { signal: AbortSignal.abort() }),
      limiter.reserve('k', 1, { signal: AbortSignal.abort() }),
    ];
    for (const call of refused) expect(await rejection(call)).toBeDefined();
    await limiter.close();
    for (const call of [limiter.consume('k'), limiter.acquire('k'), limiter.peek('k')])
      expect(isLimiterClosedError(await rejection(call))).toBe(true);
    expect(messages.log).toEqual([]);
  });
});

describe('the messages of a call, in order', () => {
  test('in memory, the decision is published before `end`', async () => {
    const { limiter, messages } = setUp({}, { traced: true });
    limiter.consumeSync('k');
    expect(messages.log).toEqual(['start', 'decision allowed', 'end']);
    await limiter.peek('k');
    expect(messages.log.slice(3)).toEqual(['start', 'end']);
  });

  test('with a remote store, the decision is published before `asyncStart` and before the caller resumes', async () => {
    const { store } = farStore();
    const { limiter, messages } = setUp({ store }, { traced: true });
    await limiter.consume('k').then(() => messages.log.push('caller'));
    expect(messages.log).toEqual(['start', 'end', 'decision allowed', 'asyncStart', 'asyncEnd', 'caller']);
    await limiter.peek('k');
    expect(messages.log.slice(6)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
  });

  test("an error of the store publishes one decision with result 'error'", async () => {
    const failure = new StoreConfigurationError('no right');
    const later = { remote: false, decide: () => Promise.reject(failure) };
    const fails = () => {
      throw failure;
    };
    const asynchronous = ['start', 'end', 'error', 'decision error', 'asyncStart', 'asyncEnd'];
    for (const [parts, expected] of [
      [{}, asynchronous],
      [later, asynchronous],
      [{ remote: false, decide: fails }, ['start', 'error', 'decision error', 'end']],
    ] as const) {
      const { store, fail } = farStore(parts as object);
      fail(failure);
      const { limiter, messages } = setUp({ store }, { traced: true });
      expect(await rejection(limiter.consume('k'))).toBe(failure);
      expect(messages.log).toEqual(expected);
      expect(messages.on('sluice:decision')).toEqual([
        expect.objectContaining({ result: 'error', error: failure, decision: undefined, key: 'k', cost: 1 }),
      ]);
      expect(await rejection(limiter.acquire('k'))).toBe(failure);
      expect(messages.log.filter((one) => one === 'decision error')).toHaveLength(2);
    }
  });

  test('each of many calls answered by a cached denial publishes its own decision', async () => {
    const { store } = farStore();
    const { limiter, messages } = setUp({ store });
    await limiter.consume('k');
    await limiter.consume('k');
    const decisions = await Promise.all(Array.from({ length: 2_500 }, () => limiter.consume('k')));
    const decided = messages.on('sluice:decision').slice(2);
    expect(decided.map(({ decision }) => decision)).toEqual(decisions);
    expect(new Set(decided.map(({ decision }) => decision!.source))).toEqual(new Set(['deny-cache']));
    expect(new Set(decided).size).toBe(2_500);
  });

  test('each call answered from prefetched permits publishes a decision', async () => {
    const { store } = farStore();
    const { limiter, messages } = setUp({ store, policy: hourly(1000), prefetch: { most: 10 } });
    for (let i = 0; i < 30; i += 1) await limiter.consume('k');
    const sources = messages.on('sluice:decision').map(({ decision }) => decision!.source);
    expect(sources).toHaveLength(30);
    expect(sources).toContain('prefetch');
  });

  test('while the store is out, decisions of the failure policy are published', async () => {
    for (const [failurePolicy, result] of [
      ['local', 'allowed'],
      ['allow', 'allowed'],
      ['deny', 'denied'],
    ] as const) {
      const { store, fail } = farStore({ health: new StoreHealth(() => undefined) });
      fail();
      const { limiter, messages } = setUp({ store, failurePolicy });
      await limiter.consume('k');
      await rejection(limiter.acquire('k2'));
      await rejection(limiter.reserve('k3', 1));
      expect(messages.log).toEqual(Array(3).fill(`decision ${result}`));
      for (const { decision } of messages.on('sluice:decision'))
        expect(decision).toMatchObject({ source: failurePolicy, degraded: true });
    }
  });

  test('a denied acquire or reservation publishes a decision without an error', async () => {
    const { limiter, messages } = setUp({}, { traced: true });
    await limiter.consume('k');
    messages.log.length = 0;
    await rejection(limiter.acquire('k', { timeout: 1 }));
    expect(messages.log).toEqual(['start', 'end', 'decision denied', 'asyncStart', 'asyncEnd']);
    await rejection(limiter.reserve('k', 1, { timeout: 1 }));
    await rejection(limiter.reserve('k', 1));
    const denials = messages.on('sluice:decision').slice(1);
    expect(denials.map(({ operation, result, error }) => [operation, result, error])).toEqual([
      ['acquire', 'denied', undefined],
      ['acquire', 'denied', undefined],
      ['consume', 'denied', undefined],
    ]);
  });
});

describe('wait messages', () => {
  test('for a booked moment are one object, published as waiting and as allowed', async () => {
    const { clock, limiter, messages } = setUp();
    await limiter.acquire('k');
    expect(messages.log).toEqual(['decision allowed']);
    const waiting = limiter.acquire('k');
    await clock.advance('30m');
    expect(messages.log.slice(1)).toEqual(['wait waiting']);
    const [begun] = messages.on('sluice:wait');
    expect(begun).toMatchObject({ result: undefined, endedAt: undefined, decision: undefined, key: 'k' });
    await clock.advance('30m');
    const decision = await waiting;
    expect(messages.log.slice(1)).toEqual(['wait waiting', 'wait allowed', 'decision allowed']);
    expect(messages.on('sluice:wait')[1]).toBe(begun);
    expect(messages.on('sluice:decision')[1]).toBe(begun);
    expect(begun!.decision).toBe(decision);
  });

  test('for held permits end as allowed on release, or as denied by the timeout', async () => {
    const { clock, limiter, messages } = setUp({ policy: concurrency({ limit: 1, lease: '1h' }) });
    const held = await limiter.acquire('k');
    const next = limiter.acquire('k');
    const last = rejection(limiter.acquire('k', { timeout: '10s' }));
    await clock.advance('1s');
    await limiter.release(held);
    await clock.advance('20s');
    await next;
    await last;
    const waits = messages.log.filter((one) => one.startsWith('wait'));
    expect(waits).toEqual(['wait waiting', 'wait waiting', 'wait allowed', 'wait denied']);
    expect(new Set(messages.on('sluice:wait')).size).toBe(2);
  });

  test.each([
    ['aborted', async (_: RateLimiter, stop: AbortController) => stop.abort(new Error('client left'))],
    ['closed', async (limiter: RateLimiter) => limiter.close()],
  ])('of waits that are %s end as canceled, without an error', async (how, cancel) => {
    for (const policy of [hourly(1), concurrency({ limit: 1, lease: '1h' })]) {
      const { clock, limiter, messages } = setUp({ policy }, { traced: true });
      await limiter.acquire('k');
      messages.log.length = 0;
      const stop = new AbortController();
      const waiting = rejection(limiter.acquire('k', { signal: stop.signal }));
      await clock.advance('1s');
      await cancel(limiter, stop);
      const error = await waiting;
      const log = messages.log.filter((one) => !/lease|refund/.test(one));
      const ended = ['wait canceled', 'decision canceled', 'asyncStart', 'asyncEnd'];
      expect(log).toEqual(['start', 'end', 'wait waiting', ...ended]);
      expect(messages.on('sluice:decision').at(-1)).toMatchObject({ error, decision: undefined });
      expect(how === 'closed' ? isLimiterClosedError(error) : error === stop.signal.reason).toBe(true);
    }
  });
});

describe('the tracing channel', () => {
  test('runs the call in the async storage bound to `start`', async () => {
    const { store, calls } = farStore();
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const decide: typeof store.decide = (call) => {
      seen.push(storage.getStore());
      return store.decide(call);
    };
    const { limiter, name } = setUp({ store: { ...store, decide } });
    const { start } = tracingChannel('sluice:decide');
    start.bindStore(storage, (message) => (message as { limiter: string }).limiter);
    try {
      await limiter.consume('k');
      expect(storage.getStore()).toBeUndefined();
    } finally {
      start.unbindStore(storage);
    }
    expect(calls).toHaveLength(1);
    expect(seen).toEqual([name]);
  });

  test('also publishes peeks; the decision channel does not', async () => {
    const { limiter, messages } = setUp();
    await limiter.peek('k');
    expect(messages.log).toEqual([]);
  });
});

describe('hostile keys in messages', () => {
  const hostile = ['a\r\nSet-Cookie: x', '\u001b[2J\u0007', '\u202Egnp.exe', '\0', ' ', '"><script>'];

  test('are encoded and stay distinct, also line breaks, terminal codes and a megabyte', async () => {
    for (const store of [memoryStore(), farStore().store]) {
      const { limiter, messages } = setUp({ store, policy: concurrency({ limit: 5, lease: '1h' }) });
      for (const key of [...hostile, 'x'.repeat(2 ** 20), `${'x'.repeat(2 ** 20)}y`])
        await limiter.release(await limiter.consume(key));
      const keys = ['sluice:decision', 'sluice:lease', 'sluice:refund'].map((name) => [
        ...new Set(messages.on(name as 'sluice:decision').map(({ key }) => key)),
      ]);
      expect(keys[0]).toHaveLength(hostile.length + 2);
      for (const key of keys[0]!) expect(key).toMatch(/^[A-Za-z0-9._~@+=,/:%-]{1,128}$/);
      expect(keys[1]).toEqual(keys[0]);
      expect(keys[2]).toEqual(keys[0]);
    }
  });
});
