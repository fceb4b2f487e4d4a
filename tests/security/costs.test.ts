import { compilePolicy } from '@sluice/core/internal';
import { decideScript } from '../../packages/core/src/engine/decide.script.js';
import { fixedWindow, gcra, memoryStore, RateLimiter } from '../../packages/core/src/index.js';
import { written } from '../../packages/core/src/stores/redis/wire.js';
import { batchOf } from '../correctness/differential/replay.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { limitOf } from '../support/limit-of.js';
import { testClient } from '../support/redis/test-client.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';

const policy = fixedWindow({ limit: 5, window: '1h' });
const client = testClient(redisUrl());
const stores = { memory: memoryStore(), Redis: storeOnDefaults(client) };
afterAll(async () => {
  for (const store of Object.values(stores)) await store.close();
  client.disconnect();
});

const NO_COSTS: readonly unknown[] = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  -1e-9,
  0.5,
  2 ** 53,
  1e300,
  '1',
  '-1',
  [1],
  { valueOf: () => 1 },
  null,
  true,
  1n,
];

describe.each(Object.entries(stores))('%s', (_, store) => {
  test.each(NO_COSTS)('every call with a cost of %p throws, and takes nothing', async (cost) => {
    const limiter = new RateLimiter({ name: uniqueName('cost'), policy, store, deadline: '10s' });
    const options = { cost: cost as number };
    const calls: readonly (() => Promise<unknown>)[] = [
      () => limiter.consume('k', options),
      () => limiter.peek('k', options),
      () => limiter.acquire('k', options),
      () => limiter.penalty('k', cost as number),
      () => limiter.reward('k', cost as number),
      () => limiter.reserve('k', cost as number),
    ];
    for (const call of calls) {
      const refused = await Promise.resolve()
        .then(call)
        .catch((error: unknown) => error);
      // An object has a cost for each policy, so its names are checked first.
      expect([RangeError, TypeError]).toContain((refused as Error).constructor);
    }
    expect(await limiter.peek('k')).toMatchObject({ remaining: 5, allowed: true });
    await limiter.close();
  });
});

/** Arguments that a foreign client, or a bug in ours, could send. */
const NO_NUMBERS = [
  'nan',
  '-nan',
  'inf',
  '-inf',
  '1e400',
  '-1',
  '-0.5',
  '0.5',
  '9007199254740993',
  '',
  'x',
  '0x',
];

/** The one number that may be -1. */
const AT = 7;

describe('decide.lua', () => {
  const parts = (name: string) => [
    { limit: limitOf(compilePolicy(policy)), key: `${name}:{a}`, cost: 1, at: AT },
    { limit: limitOf(compilePolicy(gcra({ limit: 5, period: '1h' }))), key: `${name}:{b}`, cost: 1, at: AT },
  ];
  const send = (keys: readonly string[], args: readonly string[]) =>
    client.eval(decideScript.source, keys.length, ...keys, ...args);

  test.each(NO_NUMBERS)('refuses %p for any of its numbers, before the first write', async (text) => {
    for (const operation of ['consume', 'acquire', 'charge', 'refund', 'block'] as const) {
      const name = uniqueName('raw');
      const { keys, args } = written(batchOf([{ operation, wait: 1_000, parts: parts(name) }]));
      // Not the time, which may be empty, nor the operation, nor the tags of the algorithms.
      const numbers = args.flatMap((arg, i) => {
        const mayBe = text === '-1' && arg === String(AT);
        return i > 0 && /^\d+$/.test(arg) && !mayBe ? [i] : [];
      });
      expect(numbers.length).toBeGreaterThan(8);
      for (const i of numbers) {
        await expect(
          send(
            keys,
            args.map((arg, at) => (at === i ? text : arg)),
          ),
        ).rejects.toThrow(/SLUICE|comparison|nil|arithmetic/);
      }
      expect(await client.exists(...keys)).toBe(0);
    }
  });

  test('decides when all its numbers are whole', async () => {
    const name = uniqueName('raw');
    const { keys, args } = written(batchOf([{ operation: 'consume', wait: 0, parts: parts(name) }]));
    expect(((await send(keys, args)) as number[])[1]).toBe(-7);
    expect(await client.exists(...keys)).toBe(2);
  });
});
