import fc from 'fast-check';
import { Redis } from 'ioredis';
import { sharedRateScript } from '../../packages/core/src/shared-rates/shared-rate.script.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';
import { histories, history, rates } from './shared-histories.js';
import { difference, loadReplay, replay } from './shared-replay.js';

/**
 * Rates that live in the store exist twice: stored-rates.ts and shared-rate.lua, and what lane.ts and decide.lua make of them. Both
 * are asked the same random questions at the same injected moments; every answer and all that is kept must be the same.
 */
const RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? 3_000);

let redis: Redis;
let sha1: string;
beforeAll(async () => {
  redis = new Redis(redisUrl());
  sha1 = await loadReplay(redis);
});
afterAll(() => redis.disconnect());

test(`the Lua twins answer as TypeScript does, over ${RUNS} random histories`, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(rates, histories, async (rate, questions) => {
      const steps = history(rate, questions, seen);
      const started = performance.now();
      const told = await replay(redis, sha1, steps);
      expect(difference(steps, told, performance.now() - started + 1)).toBeUndefined();
    }),
    { numRuns: RUNS },
  );
  const kinds = ['try', 'set', 'update', 'get', 'delete'].flatMap((action) => [
    `${action} one`,
    `${action} none`,
  ]);
  const answers = ['consume', 'acquire', 'booked', 'denied', 'peek', 'refund', 'charge', 'reset', 'not set'];
  expect([...seen].sort()).toEqual([...kinds, ...answers].sort());
}, 600_000);

describe('what the script refuses by itself, before it writes', () => {
  test.each(['-1', 'nan', 'inf', '1.5', '', 'abc', '9007199254740993'])('a number %p', async (number) => {
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
  });

  test('an action that it does not know', async () => {
    const key = uniqueName('refused');
    const args = ['', 'change', '1000', '0', '5', '1000'];
    await expect(redis.eval(sharedRateScript.source, 1, key, ...args)).rejects.toThrow(
      /SLUICE unknown action/,
    );
    expect(await redis.exists(key)).toBe(0);
  });
});
