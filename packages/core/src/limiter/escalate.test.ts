import { inspectKey, openLimiter } from '@sluice/fleet';
import fc from 'fast-check';
import { farStore } from '../../../../tests/support/far-store.js';
import { Messages } from '../../../../tests/support/messages.js';
import { StoreHealth } from '../health/store-health.js';
import {
  CombinedLimiter,
  type Decision,
  type EscalateOptions,
  fixedWindow,
  LimiterFactory,
  ManualClock,
  memoryStore,
  RateLimiter,
} from '../index.js';

const once = fixedWindow({ limit: 1, window: '300d' });
const escalate = { after: 3, within: '1h', block: ['1m', '10m', '1d'], forgive: '1d' } as const;
const MINUTE = 60_000;

describe('options', () => {
  const make = (given: unknown, more = {}) =>
    new RateLimiter({ policy: once, escalate: given as EscalateOptions, ...more });

  test.each<[unknown, RegExp]>([
    [{ ...escalate, after: 0 }, /RateLimiter: escalate\.after must be .* 1 to 100, not 0/],
    [{ ...escalate, after: 101 }, /escalate\.after/],
    [{ ...escalate, after: 1.5 }, /escalate\.after/],
    [{ ...escalate, within: 'soon' }, /escalate\.within must be a duration .*not "soon"/],
    [{ ...escalate, within: 0 }, /escalate\.within/],
    [{ ...escalate, block: [] }, /escalate\.block must have 1 to 20 durations, .*not an array/],
    [{ ...escalate, block: Array(21).fill('1s') }, /1 to 20 durations/],
    [{ ...escalate, block: ['1m', 0] }, /escalate\.block\[1\] must be a duration/],
    [{ ...escalate, block: undefined }, /escalate\.block\[0\] must be a duration/],
    [{ ...escalate, forgive: '59m' }, /escalate\.forgive must be at least within, .*not "59m"/],
    [{ ...escalate, blocks: '1m' }, /blocks/],
    [true, /RateLimiter: escalate/],
    [null, /RateLimiter: escalate/],
  ])('%j is refused', (given, message) => expect(() => make(given)).toThrow(message));

  test('escalate and prefetch exclude each other, unless prefetch is a default or false', () => {
    expect(() => make(escalate, { prefetch: { most: 10 } })).toThrow(
      /escalate and prefetch do not go together.*Leave out one of them/,
    );
    make(escalate, { prefetch: false });
    make(false, { prefetch: { most: 10 } });
  });

  test('a factory passes escalate to its limiters', async () => {
    const factory = new LimiterFactory({ escalate: { ...escalate, after: 1 } });
    const limiter = factory.get('sms', () => once);
    await limiter.consume('k');
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, blockedFor: MINUTE });
    await factory.close();
  });

  test('forgive defaults to a day, or to `within` if that is longer', async () => {
    for (const [within, hours] of [
      ['1h', 24],
      ['3d', 72],
    ] as const) {
      const clock = new ManualClock();
      const limiter = new RateLimiter({
        name: 'default',
        policy: once,
        store: memoryStore({ clock }),
        escalate: { after: 1, within, block: ['1m', '2m'] },
      });
      await limiter.consume('k');
      await limiter.consume('k');
      await clock.advance(MINUTE + hours * 3_600_000 - 1);
      expect((await limiter.consume('k')).blockedFor).toBe(2 * MINUTE);
      await clock.advance(2 * MINUTE + hours * 3_600_000);
      expect((await limiter.consume('k')).blockedFor).toBe(MINUTE);
    }
  });
});

/** The documented rules of `escalate`, applied to the whole history. */
class Model {
  readonly #denials: number[] = [];
  readonly #blocks: { readonly at: number; readonly end: number }[] = [];
  #step = 0;

  constructor(
    readonly options: Record<'after' | 'within' | 'forgive', number> & { block: readonly number[] },
  ) {}

  /** @returns ms until the block ends; 0 without one */
  denied(now: number): number {
    const { after, within, forgive, block } = this.options;
    const last = this.#blocks.at(-1);
    if (last !== undefined && now < last.end) return last.end - now;
    const since = Math.max(last?.end ?? 0, this.#denials.at(-1) ?? 0);
    if (now >= since + forgive) this.#step = 0;
    this.#denials.push(now);
    const counted = this.#denials.filter((at) => at > now - within && at >= (last?.end ?? 0));
    if (counted.length < after) return 0;
    const length = block[Math.min(this.#step, block.length - 1)]!;
    this.#step += 1;
    this.#blocks.push({ at: now, end: now + length });
    return length;
  }
}

test('escalate blocks exactly as a plain model does', async () => {
  const small = fc.integer({ min: 1, max: 40 });
  const options = fc
    .record({
      after: fc.integer({ min: 1, max: 5 }),
      within: small,
      more: small,
      block: fc.array(small, { minLength: 1, maxLength: 4 }),
    })
    .map(({ more, ...rest }) => ({ ...rest, forgive: rest.within + more }));
  const moves = fc.array(fc.oneof(fc.nat(3), fc.nat(100)), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(options, moves, async (given, passed) => {
      const clock = new ManualClock();
      const store = memoryStore({ clock });
      const limiter = new RateLimiter({ name: 'model', policy: once, store, escalate: given });
      const model = new Model(given);
      await limiter.consume('k');
      for (const ms of passed) {
        clock.set(clock.now() + ms * 1000);
        const { blockedFor = 0 } = await limiter.consume('k');
        expect(blockedFor).toBe(model.denied(clock.now() / 1000));
      }
      await store.close();
    }),
    { numRuns: 300 },
  );
});

describe('a remote store', () => {
  const opened: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  function far(options = {}) {
    const health = new StoreHealth(() => undefined);
    const { store, ...rest } = farStore({ health });
    opened.push({ close: () => health.end() }, store);
    const limiter = new RateLimiter({ name: 'login', policy: once, store, escalate, ...options });
    return { ...rest, store, limiter };
  }

  test('a remote store counts each denial, and the block is answered from memory until it ends', async () => {
    const { limiter, withOperations, clock } = far();
    await limiter.consume('k');
    for (const blockedFor of [undefined, undefined, MINUTE]) {
      const [decision, operations] = await withOperations(() => limiter.consume('k'));
      expect(operations).toEqual(['consume']);
      expect(decision.blockedFor).toBe(blockedFor);
    }
    const messages = new Messages('login', { channels: ['sluice:escalated'] });
    expect(await withOperations(() => limiter.consume('k'))).toMatchObject([
      { source: 'deny-cache', blockedFor: MINUTE },
      [],
    ]);
    await clock.advance('999ms');
    expect(await withOperations(() => limiter.consume('k'))).toMatchObject([
      { blockedFor: MINUTE - 999 },
      [],
    ]);
    expect(messages.log).toEqual([]);
    messages.stop();
    await limiter.unblock('k');
    expect((await withOperations(() => limiter.consume('k')))[1]).toEqual(['consume']);
  });

  test('a cached denial does not outlive a block that ends before the window', async () => {
    const { limiter, withOperations, clock } = far({ denyCache: '1h' });
    await limiter.consume('k');
    for (let i = 0; i < 3; i += 1) await limiter.consume('k');
    await clock.advance(MINUTE - 1);
    expect((await withOperations(() => limiter.consume('k')))[1]).toEqual([]);
    await clock.advance(1);
    const [decisions, operations] = await withOperations(() =>
      Promise.all([1, 2, 3].map(() => limiter.consume('k'))),
    );
    expect(operations).toEqual(['consume', 'consume', 'consume']);
    expect(decisions.map(({ blockedFor }) => blockedFor)).toEqual([undefined, undefined, 10 * MINUTE]);
  });

  test('a cached denial in shadow mode does not answer an enforced call', async () => {
    const { limiter, withOperations } = far();
    await limiter.consume('k');
    await limiter.consume('k', { shadow: true });
    expect((await withOperations(() => limiter.consume('k', { shadow: true })))[1]).toEqual([]);
    expect((await withOperations(() => limiter.consume('k')))[1]).toEqual(['consume']);
  });

  test('while it is out, each process blocks by its own count; denials of a failure policy do not count', async () => {
    for (const [failurePolicy, last] of [
      ['local', MINUTE],
      ['deny', undefined],
    ] as const) {
      const { limiter, fail } = far({ failurePolicy });
      fail();
      const messages = new Messages('login', { channels: ['sluice:escalated'] });
      const decisions: Decision[] = [];
      for (let i = 0; i < 4; i += 1) decisions.push(await limiter.consume('k'));
      messages.stop();
      expect(decisions.at(-1)).toMatchObject({ allowed: false, degraded: true });
      expect(decisions.at(-1)!.blockedFor).toBe(last);
      expect(messages.log).toHaveLength(last === undefined ? 0 : 1);
    }
  });
});

test("a combination counts denials of the member's own policy, and a block of any member stops counting", async () => {
  const store = memoryStore();
  const login = new RateLimiter({ name: 'login', policy: once, store, escalate });
  const open = new RateLimiter({ name: 'open', policy: fixedWindow({ limit: 100, window: '1d' }), store });
  const both = new CombinedLimiter({ login, open });
  await both.consume({ login: 'k', open: 'k' });
  await open.block('k', '1h');
  for (let i = 0; i < 5; i += 1)
    expect((await both.consume({ login: 'k', open: 'k' })).blockedFor).toBeUndefined();
  await open.unblock('k');
  const messages = new Messages(undefined, { channels: ['sluice:escalated'] });
  for (let i = 0; i < 3; i += 1) await both.consume({ login: 'k', open: 'k' });
  // One message, also if two members are one limiter with one key.
  const pair = fixedWindow({ limit: 2, window: '300d' });
  const mail = new RateLimiter({ name: 'mail', policy: pair, store, escalate });
  const twice = new CombinedLimiter({ from: mail, to: mail });
  await twice.consume({ from: 'x', to: 'x' });
  for (let i = 0; i < 3; i += 1) await twice.consume({ from: 'x', to: 'x' });
  messages.stop();
  expect(messages.on('sluice:escalated')).toMatchObject([
    { limiter: both.name, policy: 'login', key: 'k', step: 1 },
    { limiter: twice.name, policy: 'from', key: 'x', step: 1 },
  ]);
  await store.close();
});

/** A memory store of six keys, of which an operator has blocked one; the first denial blocks a key by escalation. */
async function fullStore() {
  const store = memoryStore({ maxKeys: 6 });
  const limiter = new RateLimiter({
    name: 'login',
    policy: once,
    store,
    escalate: { ...escalate, after: 1 },
  });
  await limiter.block('banned', '1h');
  return { store, limiter };
}

test('a full memory store evicts blocks by escalation before blocks by operators', async () => {
  const { store, limiter } = await fullStore();
  for (let i = 0; i < 20; i += 1) for (let n = 0; n < 3; n += 1) await limiter.consume(`client${i}`);
  expect(store.size).toBe(6);
  expect(await limiter.consume('banned')).toMatchObject({ allowed: false });
  await store.close();
});

test('after a refund or a penalty, blocks by escalation are still evicted before blocks by operators', async () => {
  const { store, limiter } = await fullStore();
  for (let i = 0; i < 10; i += 1) {
    const decision = await limiter.consume(`client${i}`);
    await limiter.consume(`client${i}`);
    await (i % 2 === 0 ? limiter.refund(decision) : limiter.penalty(`client${i}`));
  }
  for (let i = 0; i < 3; i += 1) await limiter.block(`later${i}`, '1h');
  for (const key of ['banned', 'later0', 'later1', 'later2'])
    expect(await limiter.peek(key)).toMatchObject({ allowed: false });
  await store.close();
});

test('inspectKey shows step, next block and forgiveness, and a reset by a tool clears them', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limiter = new RateLimiter({ name: 'login', policy: once, store, escalate });
  const definition = JSON.parse(
    JSON.stringify(RateLimiter.internals(limiter).limits.definition('limiter')),
  ) as ReturnType<ReturnType<typeof RateLimiter.internals>['limits']['definition']>;
  expect(definition.escalate).toEqual(escalate);
  const inspect = async () => (await inspectKey(store, definition, 'k')).policies[0]!;
  const nothing = {
    step: 0,
    steps: 3,
    blocks: false,
    denials: 0,
    after: 3,
    next: 60_000_000,
    forgivenAt: undefined,
  };
  expect((await inspect()).escalation).toEqual(nothing);
  for (let i = 0; i < 3; i += 1) await limiter.consume('k');
  expect((await inspect()).escalation).toEqual({ ...nothing, denials: 2 });
  await limiter.consume('k');
  const forgivenAt = clock.now() + 60_000_000 + 86_400_000_000;
  expect(await inspect()).toMatchObject({
    blockedUntil: clock.now() + 60_000_000,
    escalation: { ...nothing, step: 1, blocks: true, next: 600_000_000, forgivenAt },
  });
  const tool = openLimiter(store, definition);
  await tool.reset('k');
  await tool.close();
  expect((await inspect()).escalation).toEqual(nothing);
  const plain = new RateLimiter({ name: 'plain', policy: once, store });
  const other = RateLimiter.internals(plain).limits.definition('limiter');
  expect((await inspectKey(store, other, 'k')).policies[0]!.escalation).toBeUndefined();
  await store.close();
});

test('a store of one key evicts either the denials or the state, and still decides', async () => {
  const store = memoryStore({ maxKeys: 1 });
  const limiter = new RateLimiter({ name: 'login', policy: once, store, escalate });
  for (let i = 0; i < 20; i += 1) await limiter.consume(`k${i % 2}`);
  expect(store.size).toBe(1);
  await store.close();
});
