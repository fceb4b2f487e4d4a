import fc from 'fast-check';
import { Redis } from 'ioredis';
import { redisUrl } from '../../support/redis-url.js';
import { histories, history, rates } from './shared-histories.js';
import { difference, loadReplay, replay } from './shared-replay.js';

const kinds = ['try', 'set', 'update', 'get', 'delete'].flatMap((action) => [
  `${action} one`,
  `${action} none`,
]);
const answers = ['consume', 'acquire', 'booked', 'denied', 'peek', 'refund', 'charge', 'reset', 'not set'];
export const expectedAnswers = [...kinds, ...answers].sort();

/**
 * Rates in the store are implemented twice: in shared-rate.ts and shared-rate.lua, and in key-state.ts and key-state.lua. Both get the same
 * random calls at the same injected moments. Every answer and all stored state must be equal.
 * @returns the kinds of answers seen
 */
export async function compareSharedRates(runs: number, seed: number): Promise<string[]> {
  const redis = new Redis(redisUrl());
  const seen = new Set<string>();
  try {
    const sha1 = await loadReplay(redis);
    await fc.assert(
      fc.asyncProperty(rates, histories, async (rate, questions) => {
        const steps = history(rate, questions, seen);
        const started = performance.now();
        const replies = await replay(redis, sha1, steps);
        expect(difference(steps, replies, performance.now() - started + 1)).toBeUndefined();
      }),
      { numRuns: runs, seed },
    );
  } finally {
    redis.disconnect();
  }
  return [...seen].sort();
}
