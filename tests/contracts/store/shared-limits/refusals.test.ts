import { memoryStore, SharedLimiter, type SharedRate } from '../../../../packages/core/src/index.js';
import { rejection } from '../harness.js';

/** Values refused at once, with an error that names what is wrong. */
const store = memoryStore();
const limiter = new SharedLimiter({ name: 'refusals', store });
afterAll(() => store.close());

const { MAX_SAFE_INTEGER } = Number;

describe.each(['trySetRate', 'setRate', 'updateRate'] as const)('%s refuses', (method) => {
  test.each([
    ['no options', undefined, /takes an options object/],
    ["Redisson's order of arguments", 'OVERALL', /takes an options object/],
    ['a misspelt option', { rate: 5, interval: '1s', keepAlive: '1h' }, /no option 'keepAlive'/],
    ['no rate', { interval: '1s' }, /rate must be a whole number from 1 to 9007199254740991, not undefined/],
    ['a rate of 0', { rate: 0, interval: '1s' }, /rate must be .*, not 0/],
    ['a rate of -1', { rate: -1, interval: '1s' }, /rate must be .*, not -1/],
    ['a rate of 1.5', { rate: 1.5, interval: '1s' }, /rate must be .*, not 1.5/],
    ['a rate of NaN', { rate: Number.NaN, interval: '1s' }, /rate must be .*, not NaN/],
    ['a rate as text', { rate: '5', interval: '1s' }, /rate must be .*, not "5"/],
    [
      'a rate of 2^53',
      { rate: MAX_SAFE_INTEGER + 1, interval: '1s' },
      /rate must be .*, not 9007199254740992/,
    ],
    [
      'a large rate with an interval too long for slots',
      { rate: 10_001, interval: '3650d' },
      /with a rate above 10000 the interval and a thousandth of it must be at most 3650 days/,
    ],
    ['no interval', { rate: 5 }, /interval must be a duration/],
    ['an interval of nothing', { rate: 5, interval: '0s' }, /interval must be .*, not "0s"/],
    ['a negative interval', { rate: 5, interval: -1 }, /interval must be .*, not -1/],
    ['an interval in words', { rate: 5, interval: 'SECONDS' }, /interval must be .*, not "SECONDS"/],
    ['an interval of 11 years', { rate: 5, interval: '4000d' }, /interval must be .*, not "4000d"/],
    [
      'an unknown mode',
      { mode: 'PER_CLUSTER', rate: 5, interval: '1s' },
      /mode must be .*, not "PER_CLUSTER"/,
    ],
    ['a mode in small letters', { mode: 'overall', rate: 5, interval: '1s' }, /mode must be/],
    ['a keepAliveTime of 0', { rate: 5, interval: '1s', keepAliveTime: 0 }, /keepAliveTime must be/],
    [
      'a keepAliveTime below the interval',
      { rate: 5, interval: '1s', keepAliveTime: '999ms' },
      /keepAliveTime "999ms" must be at least the interval/,
    ],
  ])('%s', async (_, options, message) => {
    const error = await rejection(limiter[method](options as SharedRate));
    expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toContain(method);
    expect(await limiter.getConfig()).toBeUndefined();
  });
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_SAFE_INTEGER + 1, '2', '5s', null])(
  'acquire and tryAcquire refuse %p permits',
  async (permits) => {
    for (const method of ['acquire', 'tryAcquire'] as const) {
      const error = await rejection(limiter[method](permits as number) as Promise<unknown>);
      expect(error).toBeInstanceOf(RangeError);
      expect((error as Error).message).toMatch(`${method}: permits must be a whole number from 1`);
    }
  },
);

test('acquire and tryAcquire refuse invalid timeouts and unknown options', async () => {
  await expect(limiter.tryAcquire(1, '-1s')).rejects.toThrow(/tryAcquire: timeout must be/);
  await expect(limiter.tryAcquire(1, { timeout: 5 } as never)).rejects.toThrow(/tryAcquire: timeout must be/);
  await expect(limiter.acquire(1, { timeout: Number.NaN })).rejects.toThrow(/acquire: timeout must be/);
  await expect(limiter.acquire(1, { time: 5 } as never)).rejects.toThrow(/acquire has no option 'time'/);
  await expect(limiter.acquire(1, '5s' as never)).rejects.toThrow(/acquire takes an options object/);
});

describe('a SharedLimiter refuses', () => {
  const other = { ...store, name: 'mine', clock: store.clock, decide: store.decide.bind(store) };
  test.each([
    ['no options', undefined, /takes an options object/],
    ['no name', { store }, /name must be 1 to 100 letters/],
    ['an empty name', { name: '', store }, /name must be/],
    ['a name with braces', { name: '{a}', store }, /name must be .*, not "{a}"/],
    ['a name with a space', { name: 'a b', store }, /name must be/],
    ['a name that is too long', { name: 'a'.repeat(101), store }, /name must be/],
    ['no store', { name: 'a' }, /store must be memoryStore\(\) or redisStore\(…\), not undefined/],
    ['an address for a store', { name: 'a', store: 'redis://127.0.0.1' }, /store must be/],
    [
      'a store that keeps no rates',
      { name: 'a', store: { ...other, rate: undefined } },
      /store "mine" has no rate\(\)/,
    ],
    ['a clientId with braces', { name: 'a', store, clientId: '}{' }, /clientId must be/],
    ['an empty clientId', { name: 'a', store, clientId: '' }, /clientId must be/],
    ['a clientId that is a number', { name: 'a', store, clientId: 7 }, /clientId must be/],
    ['a prefix with braces', { name: 'a', store, keyPrefix: '{x' }, /keyPrefix must be/],
    ['a deadline of nothing', { name: 'a', store, deadline: 0 }, /deadline must be/],
    ['a misspelt option', { name: 'a', store, client: 'x' }, /SharedLimiter has no option 'client'/],
    ['a rate, which setRate sets', { name: 'a', store, rate: 5 }, /SharedLimiter has no option 'rate'/],
  ])('%s', (_, options, message) => {
    expect(() => new SharedLimiter(options as never)).toThrow(message);
  });
});
