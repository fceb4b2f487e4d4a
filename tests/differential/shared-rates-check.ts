import fc from 'fast-check';
import { Redis } from 'ioredis';
import { redisUrl } from '../support/redis-url.js';
import { propertyRuns } from './property-runs.js';
import { histories, history, rates } from './shared-histories.js';
import { difference, loadReplay, replay } from './shared-replay.js';

const kinds = ['try', 'set', 'update', 'get', 'delete'].flatMap((action) => [
  `${action} one`,
  `${action} none`,
]);
const answers = ['consume', 'acquire', 'booked', 'denied', 'peek', 'refund', 'charge', 'reset', 'not set'];
export const expectedAnswers = [...kinds, ...answers].sort();

/**
 * Rates that live in the store exist twice: stored-rates.ts and shared-rate.lua, and what lane.ts and decide.lua make of them. Both
 * are asked the same random questions at the same injected moments; every answer and all that is kept must be the same.
 * @returns the kinds of answers seen
 */
export async function compareSharedRates(runs: number, seed: number | string): Promise<string[]> {
  const redis = new Redis(redisUrl());
  const seen = new Set<string>();
  try {
    const sha1 = await loadReplay(redis);
    await fc.assert(
      fc.asyncProperty(rates, histories, async (rate, questions) => {
        const steps = history(rate, questions, seen);
        const started = performance.now();
        const told = await replay(redis, sha1, steps);
        expect(difference(steps, told, performance.now() - started + 1)).toBeUndefined();
      }),
      propertyRuns(runs, seed),
    );
  } finally {
    redis.disconnect();
  }
  return [...seen].sort();
}
