import { inspectKey } from '@sluice/fleet';
import { Redis } from 'ioredis';
import {
  isStoreConfigurationError,
  RateLimiter,
  redisStore,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import { LAYOUT } from '../../../packages/core/src/limiter/limits.js';
import { kinds } from '../../contracts/store/kinds.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

/** Values under our keys that are none of our states: of the previous layout, of a later one, or of another program. */
const foreign: Record<string, string> = {
  'a state of v1': '1732145678123456 7',
  'a state of a layout that is yet to come': 'V3\u0000\u0001{"used":7}',
  'a text of eight letters': 'upgraded',
  'a text that begins as an envelope does': 'Everything is new now',
  'an empty text': '',
  'a text of forty letters': 'forty letters, as many as five doubles  ',
};
const cases = (names: readonly string[]) =>
  names.flatMap((name) => Object.keys(foreign).map((what) => [name, what] as const));

const admin = new Redis(redisUrl());
const store = redisStore(redisUrl());
let name: string;

beforeEach(() => {
  name = uniqueName('foreign');
});

afterAll(async () => {
  await store.close();
  admin.disconnect();
});

/** Each call rejects with an error whose cause names the key, and does not change the value. */
async function refused(
  key: string,
  value: string,
  calls: readonly (() => Promise<unknown>)[],
): Promise<void> {
  await admin.set(key, value, 'EX', 60);
  for (const call of calls) {
    const error = await call().catch((reason: unknown) => reason);
    expect(isStoreConfigurationError(error) && String(error.cause)).toContain(`foreign value in ${key}`);
  }
  expect(await admin.get(key)).toBe(value);
  await admin.del(key);
}

test.each(cases(Object.keys(kinds)))(
  '%s: %s under its key is a configuration error',
  async (algorithm, what) => {
    const policy = kinds[algorithm]!.policyOf('1h');
    const limiter = new RateLimiter({ name, policy, store, deadline: '30s' });
    await limiter.consume('k');
    const [key, ...others] = await admin.keys(`sluice:${LAYOUT}:*:${name}:*`);
    expect(others).toEqual([]);
    await refused(key!, foreign[what]!, [
      () => limiter.consume('k'),
      () => limiter.peek('k'),
      () => limiter.acquire('k'),
      () => limiter.block('k', '1m'),
    ]);
    expect(await limiter.peek('k')).toMatchObject({ remaining: 10 });
    await limiter.close();
  },
);

test.each(Object.keys(kinds))('%s: a damaged number fails only the calls of its key', async (algorithm) => {
  const limiter = new RateLimiter({
    name,
    policy: kinds[algorithm]!.policyOf('1h'),
    store,
    deadline: '30s',
  });
  await limiter.consume('k');
  const [key] = await admin.keys(`sluice:${LAYOUT}:*:${name}:*`);
  const value = (await admin.getBuffer(key!))!;
  value.writeDoubleBE(Number.NaN, value.length > 16 ? 16 : 8);
  await admin.set(key!, value, 'EX', 60);
  const others = Array.from({ length: 19 }, (_, i) => limiter.consume(`other${i}`));
  const error = await limiter.consume('k').catch((reason: unknown) => reason);
  expect(isStoreConfigurationError(error) && String(error.cause)).toContain(`foreign value in ${key}`);
  for (const decision of await Promise.all(others)) expect(decision).toMatchObject({ remaining: 9 });
  const definition = RateLimiter.internals(limiter).limits.definition('limiter');
  await expect(inspectKey(store, definition, 'k')).rejects.toThrow(/the key holds a foreign value/);
  if (algorithm === 'concurrency') {
    value.writeDoubleBE(1e9, 16); // holders
    await admin.set(key!, value, 'EX', 60);
    await expect(inspectKey(store, definition, 'k')).rejects.toThrow(/its number of holders/);
  }
  await limiter.close();
});

test.each(cases(['rate', 'all']))(
  'SharedLimiter, its key %s: %s there is a configuration error',
  async (part, what) => {
    const shared = new SharedLimiter({ name, store, deadline: '30s' });
    const rate = { rate: 10, interval: '1h' } as const;
    await shared.setRate(rate);
    const calls: (() => Promise<unknown>)[] = [() => shared.tryAcquire(), () => shared.availablePermits()];
    if (part === 'rate')
      calls.push(
        () => shared.getConfig(),
        () => shared.updateRate(rate),
      );
    await refused(`sluice:${LAYOUT}:shared:{${name}}:${part}`, foreign[what]!, calls);
    await shared.delete();
    await shared.close();
  },
);
