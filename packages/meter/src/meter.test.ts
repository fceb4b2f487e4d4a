import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  concurrency,
  fixedWindow,
  type HoldMessage,
  leakyBucket,
  ManualClock,
  memoryStore,
  type Store,
  StoreUnavailableError,
  slidingLog,
} from '@sluice/core';
import { farStore } from '../../../tests/support/far-store.js';
import { rejection } from '../../../tests/support/rejection.js';
import { type BudgetExceededError, budgetHeaders, meter } from './index.js';

const axes = { usd: fixedWindow({ limit: 100, window: '1h' }) };
const store = memoryStore();
const options = { name: 'ai', store, axes };
afterAll(() => store.close());

describe('meter refuses, and names,', () => {
  test.each([
    ['no store', { store: undefined }, /meter: store must be memoryStore/],
    ['no axes', { axes: {} }, /axes must be an object of 1 to 20 policies/],
    ['a policy that is none', { axes: { usd: 5 } }, /policy must be made by one of/],
    ['an axis with a name that keys cannot have', { axes: { 'a b': axes.usd } }, /the name of an axis/],
    ['an axis that every object has', { axes: { constructor: axes.usd } }, /cannot be named constructor/],
    ['a soft axis that it does not have', { soft: ['eur'] }, /soft names the axis "eur"; the meter has usd/],
    ['a time to live that is too short', { ttl: '100ms' }, /ttl must be from '1s' to '1d'/],
    [
      'a rule of lapse that it does not know',
      { lapse: 'burn' },
      /lapse must be 'keep' or 'refund', not "burn"/,
    ],
    ['a misspelt option', { scope: () => [] }, /no option 'scope'; did you mean 'scopes'/],
  ])('%s', (_, given, message) => {
    expect(() => meter({ ...options, ...given } as typeof options)).toThrow(message);
  });
});

describe('a hold refuses', () => {
  const budget = meter(options);
  afterAll(() => budget.close());

  test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, 1e15 + 1, '5', null])(
    'an amount of %p, also in more and settle',
    async (amount) => {
      const usd = amount as number;
      const key = `amount ${amount}`;
      await expect(budget.hold(key, { usd })).rejects.toThrow(/usd must be a whole number/);
      const hold = await budget.hold(key, { usd: 1 });
      await expect(hold.more({ usd })).rejects.toThrow(/more: usd/);
      await expect(hold.settle({ usd })).rejects.toThrow(/settle: usd/);
      await hold.cancel();
      expect((await budget.status(key)).left).toEqual({ usd: 99 });
    },
  );

  test('an axis that the meter does not have', async () => {
    await expect(budget.hold('key', { eur: 1 } as never)).rejects.toThrow(/no option 'eur'/);
  });

  test('an id that is empty, and a sum that is not exact', async () => {
    await expect(budget.hold('key', {}, { id: '' })).rejects.toThrow(/id must be a text/);
    const hold = await budget.hold('key', { usd: 1 });
    await expect(hold.more({ usd: 1e15 })).rejects.toThrow(/the sum: usd/);
    await hold.cancel();
  });

  test.each([
    ['no scope', [], /a list of 1 to 10 scopes/],
    ['the same key twice', ['a', { key: 'a' }], /names a key twice/],
    ['an axis that the meter does not have', [{ key: 'a', axes: ['eur'] }], /names the axis "eur"/],
    [
      'a plan, with limits in code',
      [{ key: 'a', plan: 'pro' }],
      /names the plan "pro", and the limits .* in code/,
    ],
    ['a plan that is no text', [{ key: 'a', plan: 5 }], /a plan must be a text, not 5/],
    ['an empty key', [''], /is an empty string/],
    ['a key that is no text', [{ key: {} }], /is an object/],
  ])('scopes with %s', async (_, scopes, message) => {
    const wrong = meter({ ...options, name: 'wrong', scopes: () => scopes as never });
    await expect(wrong.hold('key', {})).rejects.toThrow(message);
    await wrong.close();
  });

  test('an amount that no scope of the caller would count', async () => {
    const some = meter({
      ...options,
      name: 'some',
      axes: { ...axes, output: axes.usd },
      scopes: () => [{ key: 'a', axes: ['usd'] }],
    });
    await expect(some.hold('key', { output: 5 })).rejects.toThrow(
      /no scope of this caller has the axis 'output'/,
    );
    await some.close();
  });
});

test('an amount above the limit never fits', async () => {
  const budget = meter({ ...options, name: 'never' });
  await expect(budget.hold('key', { usd: 101 })).rejects.toMatchObject({
    retryAfter: Number.POSITIVE_INFINITY,
    message: "Budget 'never' has 100 of 100 left of axis 'usd': the amount can never fit",
    headers: {},
  });
  await budget.close();
});

test('a denial by a block says so, with the time until the block ends', async () => {
  const own = memoryStore({ clock: new ManualClock() });
  const budget = meter({ ...options, name: 'blocked', store: own });
  await budget.limiters.usd!.block('key', '1h');
  const error = await rejection(budget.hold('key', { usd: 1 }));
  expect(error).toMatchObject({
    ...{ axis: 'usd', left: 100, blockedFor: 3_600_000, retryAfter: 3_600_000 },
    message: "Budget 'blocked' is blocked for axis 'usd': retry in 1 h",
  });
  expect(budgetHeaders(error as BudgetExceededError).RateLimit).toBe('"blocked.usd";r=0;t=3600');
  const denied = await rejection(budget.hold('other', { usd: 101 }));
  expect(denied).toMatchObject({ blockedFor: undefined });
  await budget.close();
  await own.close();
});

test('status and headers show nothing left of a blocked axis, unless it is soft', async () => {
  const own = memoryStore({ clock: new ManualClock() });
  const usd = fixedWindow({ limit: 100, window: '2h' });
  const budget = meter({ name: 'blocked', store: own, axes: { usd, calls: usd }, soft: ['calls'] });
  for (const limiter of Object.values(budget.limiters)) await limiter.block('key', '1h');
  const blocked = await budget.status('key');
  expect(blocked).toMatchObject({
    left: { usd: 0, calls: 100 },
    lines: [
      { axis: 'usd', left: 100, blockedFor: 3_600_000 },
      { axis: 'calls', left: 100, blockedFor: undefined },
    ],
  });
  expect(budgetHeaders(blocked).RateLimit).toBe('"blocked.usd";r=0;t=3600, "blocked.calls";r=100;t=3600');
  await (await budget.hold('key', { calls: 1 })).cancel();
  await budget.limiters.usd!.unblock('key');
  await (await budget.hold('key', { usd: 100 })).settle({});
  await budget.limiters.usd!.block('key', '1h');
  const { RateLimit } = budgetHeaders(await budget.status('key'));
  expect(RateLimit).toBe('"blocked.usd";r=0;t=7200, "blocked.calls";r=100;t=3600');
  expect((await budget.status('other')).lines).toMatchObject([{ blockedFor: undefined }, {}]);
  await budget.close();
  await own.close();
});

test.each([
  ['slidingLog', slidingLog({ limit: 10, window: '1m' })],
  ['leakyBucket', leakyBucket({ capacity: 10, leak: 10, every: '1m' })],
])('an axis may be a %s', async (_, policy) => {
  const own = memoryStore({ clock: new ManualClock() });
  const budget = meter({ name: 'any', store: own, axes: { usd: policy } });
  const hold = await budget.hold('key', { usd: 6 });
  expect(await hold.more({ usd: 5 })).toBe(false);
  expect((await hold.settle({ usd: 2 })).left).toEqual({ usd: 8 });
  await budget.close();
  await own.close();
});

test('open holds of one key take memory for their records only, and a call reads no more keys', async () => {
  const clock = new ManualClock();
  const own = memoryStore({ clock });
  const limits = { usd: fixedWindow({ limit: 1e9, window: '1h' }), running: concurrency({ limit: 10_000 }) };
  const budget = meter({ name: 'many', store: own, axes: limits, lapse: 'refund' });
  for (let i = 0; i < 5_000; i += 1) {
    clock.set(clock.now() + 1_000);
    await budget.hold('key', { usd: 10 });
  }
  expect(own.size).toBe(5_002);
  expect((await budget.status('key')).lines).toMatchObject([{ held: 50_000 }, { held: 5_000 }]);
  clock.set(clock.now() + 34_000_000);
  expect((await budget.status('key')).left).toEqual({ usd: 1e9, running: 10_000 });
  await budget.close();
  await own.close();
});

test('onSoftLimit is called for what a hold takes, and not when it is renewed', async () => {
  const reports: number[] = [];
  const onSoftLimit = ({ left }: { left: number }) => reports.push(left);
  const budget = meter({ name: 'renewed', store, axes, soft: ['usd'], onSoftLimit });
  const hold = await budget.hold('key', { usd: 101 });
  await hold.renew();
  await hold.more({ usd: 1 });
  await hold.renew();
  expect(reports).toEqual([-1, -2]);
  await hold.cancel();
  await budget.close();
});

test('a hold is given back when onSoftLimit throws, and its error rejects', async () => {
  const budget = meter({
    name: 'soft',
    store,
    axes,
    soft: ['usd'],
    onSoftLimit: () => {
      throw new Error('no pager');
    },
  });
  await expect(budget.hold('key', { usd: 101 })).rejects.toThrow('no pager');
  expect((await budget.status('key')).left).toEqual({ usd: 100 });
  const hold = await budget.hold('key', { usd: 100 });
  await expect(hold.more({ usd: 1 })).rejects.toThrow('no pager');
  expect((await hold.settle({ usd: 40 })).left).toEqual({ usd: 60 });
  await budget.close();
});

test('cancel after a settle that has rejected settles its amounts, and gives nothing back', async () => {
  const far = farStore();
  const budget = meter({ ...options, name: 'paid', store: far.store });
  const hold = await budget.hold('key', { usd: 30 });
  far.fail();
  expect(await rejection(hold.settle({ usd: 20 }))).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' });
  far.mend();
  await hold.cancel();
  expect((await budget.status('key')).left).toEqual({ usd: 80 });
  await budget.close();
});

test.each([
  ['a wrong amount', { usd: Number.NaN }, RangeError],
  ['an axis that the meter does not have', { eur: 5 }, TypeError],
])('cancel after a settle with %s counts what was held', async (_, used, error) => {
  const budget = meter({ ...options, name: 'wrong-settle' });
  const key = Object.keys(used)[0]!;
  const hold = await budget.hold(key, { usd: 30 });
  await expect(hold.settle(used as never)).rejects.toThrow(error);
  await hold.cancel();
  expect((await budget.status(key)).left).toEqual({ usd: 70 });
  await budget.close();
});

test('a settle with a wrong amount changes nothing of a settle before and after it', async () => {
  const far = farStore();
  const budget = meter({ ...options, name: 'corrected', store: far.store });
  const [first, second] = [await budget.hold('key', { usd: 30 }), await budget.hold('key', { usd: 30 })];
  far.fail();
  await rejection(first.settle({ usd: 20 }));
  far.mend();
  await rejection(first.settle({ usd: 1.5 }));
  await first.cancel();
  await rejection(second.settle({ usd: 1.5 }));
  await second.settle({ usd: 2 });
  await second.cancel();
  expect((await budget.status('key')).left).toEqual({ usd: 78 });
  await budget.close();
});

/** A store that decides, and whose next replies are lost, each as given: `false` a reply, `true` a call that was never sent. */
function losing(losses: boolean[]): Store {
  const far = farStore();
  const decide: Store['decide'] = async (call) => {
    const neverSent = losses.shift();
    if (neverSent) throw new StoreUnavailableError('circuit open', { neverSent });
    const answer = await far.store.decide(call);
    if (neverSent === false) throw new StoreUnavailableError('lost');
    return answer;
  };
  return { ...far.store, decide };
}

test('a hold is repeated with its id after its reply was lost, also if the second attempt was never sent', async () => {
  const budget = meter({ ...options, name: 'repeated', store: losing([false, true]) });
  await expect(budget.hold('key', { usd: 30 }, { id: 'r1' })).rejects.toMatchObject({ neverSent: false });
  const hold = await budget.hold('key', { usd: 30 }, { id: 'r1' });
  expect((await budget.status('key')).left).toEqual({ usd: 70 });
  await hold.cancel();
  await budget.close();
});

test('a lost hold can be repeated after a repeat with more was denied', async () => {
  const budget = meter({ ...options, name: 'denied', store: losing([false, false]) });
  await rejection(budget.hold('key', { usd: 30 }, { id: 'r1' }));
  const denial = { code: 'SLUICE_BUDGET_EXCEEDED' };
  await expect(budget.hold('key', { usd: 101 }, { id: 'r1' })).rejects.toMatchObject(denial);
  await (await budget.hold('key', { usd: 30 }, { id: 'r1' })).cancel();
  expect((await budget.status('key')).left).toEqual({ usd: 100 });
  await budget.close();
});

test('one of several calls that repeat a lost hold gets it', async () => {
  const budget = meter({ ...options, name: 'raced', store: losing([false, false]) });
  await rejection(budget.hold('key', { usd: 30 }, { id: 'r1' }));
  const again = [1, 2].map(() => budget.hold('key', { usd: 30 }, { id: 'r1' }));
  const settled = await Promise.allSettled(again);
  expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(settled.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'SLUICE_HOLD_IN_USE' },
  });
  await budget.close();
});

describe('the permits of a lost hold without an id', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  test('are given back once the store answers', async () => {
    const budget = meter({ ...options, name: 'nameless', store: losing([false, false, true]) });
    await rejection(budget.hold('key', { usd: 30 }, { ttl: '1d' }));
    await jest.advanceTimersByTimeAsync(1_100); // the store is still out
    expect((await budget.status('key')).left).toEqual({ usd: 70 });
    await jest.advanceTimersByTimeAsync(2_000);
    expect((await budget.status('key')).left).toEqual({ usd: 100 });
    await budget.close();
  });

  test('are given back without a message that a hold has lapsed, if no call has reached the store', async () => {
    const far = farStore();
    const budget = meter({ ...options, name: 'unreached', store: far.store });
    const states: unknown[] = [];
    const read = (message: unknown) => states.push((message as HoldMessage).state);
    subscribe('sluice:hold', read);
    far.fail();
    await rejection(budget.hold('key', { usd: 30 }));
    far.mend();
    await jest.advanceTimersByTimeAsync(60_000);
    unsubscribe('sluice:hold', read);
    expect(far.operations).toEqual(['hold', 'hold', 'settle']);
    expect(states).toEqual([]);
    await budget.close();
  });

  test('are given back by attempts that end when the store has forgotten the hold', async () => {
    const losses = [false, ...Array<boolean>(20).fill(true)];
    const budget = meter({ ...options, name: 'given-up', store: losing(losses) });
    await rejection(budget.hold('key', { usd: 30 }));
    await jest.advanceTimersByTimeAsync(300_000);
    // The second attempt of the call, then after 1, 2, 4 and 8 s, and after each 10 s until two ttl are over.
    expect(losses).toHaveLength(20 - 1 - 8);
    await budget.close();
  });
});

test('amounts added after the window of a refund hold has ended count in the present window', async () => {
  const clock = new ManualClock();
  clock.set(Date.UTC(2026, 0, 1, 23, 59, 55) * 1000);
  const own = memoryStore({ clock });
  const axes = { usd: fixedWindow({ limit: 100, window: '1 day', timeZone: 'UTC' }) };
  const budget = meter({ ...options, name: 'midnight', axes, store: own, lapse: 'refund' });
  const hold = await budget.hold('key', { usd: 10 });
  await clock.advance('10s');
  expect(await hold.more({ usd: 90 })).toBe(true);
  expect((await hold.settle({ usd: 100 })).left).toEqual({ usd: 0 });
  await budget.close();
  await own.close();
});

test('onSoftLimit is called only for axes of which a call takes more', async () => {
  const reports: string[] = [];
  const both = { ...axes, output: fixedWindow({ limit: 10, window: '1h' }) };
  const onSoftLimit = ({ axis }: { axis: string }) => reports.push(axis);
  const soft = ['usd', 'output'] as const;
  const budget = meter({ name: 'soft-axes', store, axes: both, soft, onSoftLimit });
  const hold = await budget.hold('key', { usd: 101 });
  await hold.more({ output: 11 });
  await budget.hold('key', { output: 1 });
  expect(reports).toEqual(['usd', 'output', 'output']);
  await budget.close();
});

test.each([
  [{ key: 'a', axis: ['usd'] }, /no option 'axis'; did you mean 'axes'/],
  [{ key: 'a', axes: ['usd', 'usd'] }, /names an axis of the key "a" twice/],
  [{ key: 'a', axes: { usd: 5 } }, /axes of the key "a" must be a list of their names, not an object/],
  [{ key: 'a', axes: 'usd' }, /axes of the key "a" must be a list of their names, not "usd"/],
])('a scope %j is refused', async (scope, message) => {
  const budget = meter({ ...options, name: 'scopes', scopes: () => [scope as never] });
  await expect(budget.hold('key', { usd: 1 })).rejects.toThrow(message);
  await budget.close();
});
