import {
  CombinedLimiter,
  fixedWindow,
  hashKey,
  ManualClock,
  memoryStore,
  RateLimiter,
  type RateLimiterOptions,
  slidingWindow,
  subscribe,
  type ThresholdMessage,
} from '@sluice/core';

const DAY = 86_400_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

const messages: ThresholdMessage[] = [];
let stop = () => {};
beforeEach(() => {
  messages.length = 0;
  stop = subscribe('sluice:threshold', (message) => messages.push(message));
});
afterEach(() => stop());

/** The messages published since the last call, in short. */
const published = async () => {
  await settled();
  return messages.splice(0).map(({ key, threshold, used }) => `${key} ${threshold} ${used}`);
};

function setUp(options: Partial<RateLimiterOptions> = {}) {
  const clock = new ManualClock(); // 2025-01-01
  const store = memoryStore({ clock });
  const policy = fixedWindow({ limit: 10, window: '1 month' });
  const make = (more: object = {}) =>
    new RateLimiter({ name: 'api', policy, store, notify: ['80%', '100%'], ...options, ...more } as never);
  return { clock, store, make, limiter: make() };
}
const take = async (limiter: RateLimiter, calls: number, key = 'ann') => {
  for (let i = 0; i < calls; i += 1) await limiter.consume(key);
};

test('each threshold is published once for a key and window, when it is reached', async () => {
  const { limiter, clock } = setUp();
  await take(limiter, 7);
  expect(await published()).toEqual([]);
  await limiter.consume('ann');
  await settled();
  expect(messages).toEqual([
    {
      limiter: 'api',
      policy: 'api',
      key: 'ann',
      threshold: '80%',
      limit: 10,
      used: 8,
      windowStart: Date.UTC(2025, 0, 1),
      windowEnd: Date.UTC(2025, 1, 1),
    },
  ]);
  messages.length = 0;
  await take(limiter, 4);
  await take(limiter, 8, 'bob');
  expect(await published()).toEqual(['ann 100% 10', 'bob 80% 8']);
  await clock.advance(31 * DAY);
  await take(limiter, 10);
  expect(await published()).toEqual(['ann 80% 8', 'ann 100% 10']);
});

test('a call that passes several thresholds publishes each, also among concurrent calls', async () => {
  const { limiter } = setUp({ notify: ['50%', '80%', '100%'] });
  await limiter.consume('ann', { cost: 9 });
  expect(await published()).toEqual(['ann 50% 9', 'ann 80% 9']);
  await Promise.all(Array.from({ length: 12 }, () => limiter.consume('bob')));
  expect(await published()).toEqual(['bob 50% 5', 'bob 80% 10', 'bob 100% 10']);
});

test('a threshold that a key reaches again after a refund or reset is not published again', async () => {
  const { limiter } = setUp();
  await take(limiter, 7);
  const decision = await limiter.consume('ann');
  expect(await published()).toEqual(['ann 80% 8']);
  await limiter.refund(decision);
  await limiter.consume('ann');
  await limiter.reset('ann');
  await take(limiter, 9);
  expect(await published()).toEqual([]);
  await limiter.consume('ann');
  expect(await published()).toEqual(['ann 100% 10']);
});

test('limiters of one name publish once; a threshold reached without a subscriber is published by the next', async () => {
  const { limiter, make } = setUp();
  const other = make();
  stop();
  await take(limiter, 9);
  stop = subscribe('sluice:threshold', (message) => messages.push(message));
  expect(await published()).toEqual([]); // there was no subscriber
  await take(other, 1);
  expect(await published()).toEqual(['ann 80% 10', 'ann 100% 10']);
  await take(limiter, 1);
  expect(await published()).toEqual([]);
});

test('calls in shadow mode, peeks and blocked keys publish nothing', async () => {
  const { limiter } = setUp();
  for (let i = 0; i < 10; i += 1) await limiter.consume('ann', { shadow: true });
  await limiter.peek('ann');
  await limiter.block('bob', '1h');
  await limiter.consume('bob');
  expect(await published()).toEqual([]);
  await limiter.consume('ann'); // denied
  expect(await published()).toEqual(['ann 80% 10', 'ann 100% 10']);
});

test('penalties, settled reservations and waited calls count', async () => {
  const { limiter, clock } = setUp();
  await limiter.penalty('ann', 25);
  expect(await published()).toEqual(['ann 80% 25', 'ann 100% 25']);
  const reservation = await limiter.reserve('bob', 1);
  await reservation.settle(8);
  expect(await published()).toEqual(['bob 80% 8']);
  const waiting = limiter.acquire('bob', { cost: 9 });
  await settled();
  expect(await published()).toEqual([]);
  await clock.advance(31 * DAY);
  await waiting;
  expect(await published()).toEqual(['bob 80% 9']);
});

test('a threshold that a check does not confirm is checked again a second later', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'hrtime'] });
  try {
    const { limiter, clock } = setUp();
    await limiter.consume('ann', { cost: 9 });
    const waiting = limiter.acquire('ann', { cost: 9 }); // its answer shows that no permit is left now
    await clock.advance(31 * DAY);
    await waiting;
    expect(await published()).toEqual(['ann 80% 9', 'ann 80% 9']);
    await limiter.consume('ann');
    expect(await published()).toEqual([]);
    jest.advanceTimersByTime(1_000);
    expect(await published()).toEqual(['ann 100% 10']);
  } finally {
    jest.useRealTimers();
  }
});

test('after a change of the limit, the thresholds of the new limit are published once for all processes', async () => {
  const { limiter, make } = setUp();
  await take(limiter, 10);
  expect(await published()).toEqual(['ann 80% 8', 'ann 100% 10']);
  const larger = fixedWindow({ limit: 100, window: '1 month' });
  await limiter.close();
  const upgraded = [make({ policy: larger }), make({ policy: larger })] as const;
  await take(upgraded[0], 69);
  expect(await published()).toEqual([]);
  await take(upgraded[0], 1);
  await take(upgraded[1], 20);
  expect(await published()).toEqual(['ann 80% 80', 'ann 100% 100']);
  await take(upgraded[0], 1);
  for (const one of upgraded) await one.close();
  await take(make(), 1); // the old limit, as in another process during a roll-out
  expect(await published()).toEqual([]);
});

test('an override that begins in a window has its own thresholds, and its end publishes nothing again', async () => {
  const { limiter } = setUp();
  await take(limiter, 10);
  expect(await published()).toEqual(['ann 80% 8', 'ann 100% 10']);
  await limiter.override('ann', fixedWindow({ limit: 20, window: '1 month' }), { expiresIn: '1h' });
  await take(limiter, 6);
  expect(await published()).toEqual(['ann 80% 16']);
  await take(limiter, 4);
  expect(await published()).toEqual(['ann 100% 20']);
  await limiter.removeOverride('ann');
  await take(limiter, 2);
  expect(await published()).toEqual([]);
});

test('during an override, thresholds are parts of its limit; a lower limit is checked at the next call', async () => {
  const { limiter, make } = setUp({ policy: fixedWindow({ limit: 10, window: '1h' }) });
  await limiter.override('ann', fixedWindow({ limit: 100, window: '1h' }), { expiresIn: '1d' });
  await take(limiter, 79);
  expect(await published()).toEqual([]);
  await take(limiter, 1);
  expect(await published()).toEqual(['ann 80% 80']);
  await take(limiter, 6, 'bob');
  await limiter.close();
  const lower = make({ policy: fixedWindow({ limit: 5, window: '1h' }) });
  expect((await lower.consume('bob')).allowed).toBe(false);
  expect(await published()).toEqual(['bob 80% 6', 'bob 100% 6']);
});

test('each policy has its own thresholds; a combination publishes those of its members', async () => {
  const { store, make, limiter } = setUp({
    policy: undefined,
    policies: {
      day: fixedWindow({ limit: 5, window: '1d' }),
      rate: slidingWindow({ limit: 9, window: '1h' }),
    },
    notify: { day: ['100%'] },
  } as never);
  const everybody = new RateLimiter({
    name: 'all',
    policy: fixedWindow({ limit: 100, window: '1d' }),
    store,
  });
  const combined = new CombinedLimiter({ api: limiter, everybody });
  for (let i = 0; i < 5; i += 1) await combined.consume({ api: 'ann', everybody: 'all' });
  await settled();
  expect(messages).toMatchObject([{ limiter: 'api', policy: 'day', key: 'ann', threshold: '100%', used: 5 }]);
  await take(make(), 1);
  expect(messages).toHaveLength(1);
});

test('a closed limit and a cost of 0 publish nothing', async () => {
  const { limiter } = setUp({ policy: fixedWindow({ limit: 0, window: '1h' }) });
  await take(limiter, 2);
  await limiter.consume('ann', { cost: 0 });
  expect(await published()).toEqual([]);
});

test.each([
  [{ notify: [] }, /notify must be a list of 1 to 10 thresholds/],
  [{ notify: '80%' }, /such as \['80%', '100%'\], not "80%"/],
  [{ notify: ['80'] }, /'0.01%' to '100%', such as '80%', not "80"/],
  [{ notify: [0.8] }, /not 0.8/],
  [{ notify: ['0%'] }, /not "0%"/],
  [{ notify: ['101%'] }, /not "101%"/],
  [{ notify: { api: ['80%'] } }, /not an object/],
  [{ policy: slidingWindow({ limit: 1, window: '1h' }) }, /notify is for fixedWindow.*Policy 'api' has none/],
  [
    { policy: undefined, policies: { a: fixedWindow({ limit: 1, window: 1 }) } },
    /of each by its name.*\{ a: \['80%'/,
  ],
  [
    { policy: undefined, policies: { a: fixedWindow({ limit: 1, window: 1 }) }, notify: { b: ['80%'] } },
    /there is no policy 'b'; the policies are a/,
  ],
])('rejects the options %j', (options, message) => {
  const { make } = setUp();
  expect(() => make(options)).toThrow(message);
});

test('rejects a store that cannot claim a threshold for one process', () => {
  const store = memoryStore();
  const own = { name: 'own', remote: false, clock: store.clock, decide: () => {} };
  expect(() => setUp({ store: own as never })).toThrow(/notify needs a store .*claim\(\)/);
});

test('a store that counts usage counts the keys of a limiter with thresholds, too', async () => {
  const store = memoryStore({ usage: true });
  const policy = fixedWindow({ limit: 2, window: '1h' });
  const limiter = new RateLimiter({ name: 'api', policy, store, notify: ['50%', '100%'] });
  await take(limiter, 3);
  await limiter.penalty('bob', 2);
  expect(await published()).toEqual(['ann 50% 1', 'ann 100% 2', 'bob 50% 2', 'bob 100% 2']);
  expect(limiter.topKeys().denied).toMatchObject([{ key: hashKey('ann'), count: 1 }]);
  await store.close();
});
