import { farStore } from '../../../../tests/support/far-store.js';
import { Messages } from '../../../../tests/support/messages.js';
import { uniqueName } from '../../../../tests/support/redis-url.js';
import { rejection } from '../../../../tests/support/rejection.js';
import { concurrency } from '../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { isStoreUnavailableError } from '../errors.js';
import { RateLimiter } from './rate-limiter.js';

const window = fixedWindow({ limit: 100, window: '1h' });
let messages: Messages;
afterEach(() => messages.stop());

function setUp(policies: Record<string, typeof window> | undefined = undefined) {
  const far = farStore({ remote: false });
  const name = uniqueName('demo');
  messages = new Messages(name, { channels: ['sluice:refund'] });
  const { store } = far;
  const limiter = new RateLimiter(policies ? { name, policies, store } : { name, policy: window, store });
  return { ...far, name, limiter };
}

const refunds = () =>
  messages.on('sluice:refund').map(({ reason, policy, permits }) => [reason, policy, permits]);

test('a refund publishes its fields once; a second refund publishes nothing', async () => {
  const { limiter, name } = setUp();
  const decision = await limiter.consume('ann', { cost: 3 });
  await limiter.refund(decision);
  await limiter.refund(decision);
  const [message] = messages.on('sluice:refund');
  const fields = { limiter: name, policy: name, key: 'ann', estimate: undefined, error: undefined };
  expect(message).toEqual({ ...fields, reason: 'refund', permits: 3 });
  expect(messages.log).toHaveLength(1);
});

test('each policy publishes its own refund, unless it took nothing', async () => {
  const { limiter } = setUp({ calls: window, tokens: window, images: window });
  await limiter.refund(await limiter.consume('k', { cost: { tokens: 7, images: 0 } }));
  expect(refunds()).toEqual([
    ['refund', 'calls', 1],
    ['refund', 'tokens', 7],
  ]);
});

test('a release publishes only the held permits', async () => {
  const { limiter } = setUp({ calls: window, slots: concurrency({ limit: 2, lease: '1h' }) as never });
  await limiter.release(await limiter.consume('k'));
  await limiter.schedule('k', () => {});
  expect(refunds()).toEqual([
    ['release', 'slots', 1],
    ['release', 'slots', 1],
  ]);
});

test('a settled reservation publishes the difference, a canceled one all its permits', async () => {
  const { limiter, name, memory } = setUp();
  const reserved = () => limiter.reserve('k', 10);
  for (const actual of [4, 10, 25]) await (await reserved()).settle(actual);
  await (await reserved()).cancel();
  expect(refunds()).toEqual([
    ['settle', name, 6],
    ['settle', name, 0],
    ['settle', name, -15],
    ['cancel', name, 10],
  ]);
  expect(messages.on('sluice:refund').map(({ estimate }) => estimate)).toEqual([10, 10, 10, undefined]);
  expect(await new RateLimiter({ name, policy: window, store: memory }).peek('k')).toMatchObject({
    remaining: 100 - 4 - 10 - 25,
  });
});

test('a canceled wait and a reward publish their permits', async () => {
  const { clock, limiter, name } = setUp();
  await limiter.consume('k', { cost: 100 });
  const stop = new AbortController();
  const waiting = rejection(limiter.acquire('k', { cost: 5, signal: stop.signal }));
  await clock.advance('1s');
  stop.abort();
  await waiting;
  await limiter.reward('k', 2);
  expect(refunds()).toEqual([
    ['cancel', name, 5],
    ['reward', name, 2],
  ]);
});

test('a refund that the store did not make is published once, with its error', async () => {
  const { limiter, name, fail } = setUp();
  const decision = await limiter.consume('k');
  const reservations = [await limiter.reserve('k', 10), await limiter.reserve('k', 10)] as const;
  fail();
  const errors = [
    await rejection(limiter.refund(decision)),
    await rejection(reservations[0].settle(4)),
    await rejection(reservations[1].settle(12)),
    await rejection(limiter.reward('k')),
  ];
  expect(errors.every(isStoreUnavailableError)).toBe(true);
  expect(messages.on('sluice:refund').map(({ error }) => error)).toEqual(errors);
  expect(refunds()).toEqual([
    ['refund', name, 1],
    ['settle', name, 6],
    ['settle', name, -2],
    ['reward', name, 1],
  ]);
});
