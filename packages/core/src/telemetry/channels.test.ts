import { channel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { Messages } from '../../../../tests/support/messages.js';
import { concurrency } from '../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { DecideMessage } from '../limiter/call-message.js';
import { RateLimiter } from '../limiter/rate-limiter.js';
import { warn } from '../warnings.js';
import { subscribe } from './channels.js';

jest.mock('../limiter/call-message.js', () => {
  const actual = jest.requireActual('../limiter/call-message.js');
  return { ...actual, DecideMessage: jest.fn((...args) => Reflect.construct(actual.DecideMessage, args)) };
});
const built = DecideMessage as unknown as jest.Mock;

const window = fixedWindow({ limit: 5, window: '1h' });

test('subscribe calls the listener until it is stopped, like a plain subscription', async () => {
  const limiter = new RateLimiter({ name: 'subscribed', policy: window });
  const [ours, plain]: [unknown[], unknown[]] = [[], []];
  const stop = subscribe('sluice:decision', (message) => ours.push(message));
  const listener = (message: unknown) => plain.push(message);
  channel('sluice:decision').subscribe(listener);
  await limiter.consume('k');
  stop();
  stop();
  await limiter.consume('k');
  channel('sluice:decision').unsubscribe(listener);
  await limiter.consume('k');
  expect(ours).toHaveLength(1);
  expect(plain).toHaveLength(2);
  expect(plain[0]).toBe(ours[0]);
});

test('two subscriptions of one listener are separate, and end separately', async () => {
  const limiter = new RateLimiter({ name: 'twice', policy: window });
  const listener = jest.fn();
  const stops = [subscribe('sluice:decision', listener), subscribe('sluice:decision', listener)];
  await limiter.consume('k');
  stops[0]!();
  await limiter.consume('k');
  stops[1]!();
  expect(listener).toHaveBeenCalledTimes(3);
});

test('subscribe rejects an unknown channel and a listener that is not a function', () => {
  expect(() => subscribe('sluice:decisions' as never, () => {})).toThrow(
    /^subscribe: there is no channel "sluice:decisions"; the channels are sluice:decision, .*sluice:warning$/,
  );
  expect(() => subscribe('sluice:decision', undefined as never)).toThrow(
    'subscribe: the listener must be a function, not undefined',
  );
});

test('without subscribers no message is built and no clock is read', async () => {
  const limiter = new RateLimiter({
    name: 'unheard',
    policies: { window, slots: concurrency({ limit: 2, lease: '1h' }) },
  });
  built.mockClear();
  const read = jest.spyOn(performance, 'now');
  try {
    await limiter.peek('k');
    await limiter.release(await limiter.consume('k', { shadow: true }));
    await limiter.refund(limiter.consumeSync('k'));
    await limiter.schedule('k', () => {});
    await (await limiter.reserve('k', 2)).settle(1);
    await limiter.close();
    expect(read).not.toHaveBeenCalled();
  } finally {
    read.mockRestore();
  }
  expect(built).not.toHaveBeenCalled();
});

test('a peek builds no message for the decision channel', async () => {
  const messages = new Messages('peeked');
  built.mockClear();
  const limiter = new RateLimiter({ name: 'peeked', policy: window });
  await limiter.peek('k');
  expect(built).not.toHaveBeenCalled();
  await limiter.consume('k');
  expect(built).toHaveBeenCalledTimes(1);
  messages.stop();
});

test('a warning is published when it is emitted', () => {
  const emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
  const messages = new Messages();
  warn('SLUICE_EVICTION', 'the server evicts keys');
  messages.stop();
  expect(messages.on('sluice:warning')).toEqual([
    { code: 'SLUICE_EVICTION', message: 'the server evicts keys' },
  ]);
  expect(emitted).toHaveBeenCalledTimes(1);
  emitted.mockRestore();
});
