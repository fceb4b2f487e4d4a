import { Redis } from 'ioredis';
import { sharedRateScript } from '../../../packages/core/src/stores/shared-rate.script.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { QUICK_RUNS, QUICK_SEED } from './runs.js';
import { compareSharedRates, expectedAnswers } from './shared-rates-check.js';

let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl());
});
afterAll(() => redis.disconnect());

test(`Lua answers as TypeScript does, over ${QUICK_RUNS} histories`, async () => {
  expect(await compareSharedRates(QUICK_RUNS, QUICK_SEED)).toEqual(expectedAnswers);
}, 120_000);

describe('shared-rate.lua refuses, before it writes', () => {
  test.each(['-1', 'nan', 'inf', '1.5', '', 'abc', '9007199254740993'])(
    '%p in place of a number',
    async (number) => {
      const key = uniqueName('refused');
      for (const args of [
        [number, '0', '5', '1000'],
        ['1000', '0', number, '1000'],
      ]) {
        await expect(redis.eval(sharedRateScript.source, 1, key, '', 'set', ...args)).rejects.toThrow(
          /SLUICE not a whole number/,
        );
      }
      expect(await redis.exists(key)).toBe(0);
    },
  );

  test('an unknown action', async () => {
    const key = uniqueName('refused');
    const args = ['', 'change', '1000', '0', '5', '1000'];
    await expect(redis.eval(sharedRateScript.source, 1, key, ...args)).rejects.toThrow(
      /SLUICE unknown action/,
    );
    expect(await redis.exists(key)).toBe(0);
  });
});
