import { setTimeout as sleep } from 'node:timers/promises';
import {
  isRateLimitExceededError,
  isStoreUnavailableError,
  RateLimiter,
} from '../../../packages/core/src/index.js';
import type { Connected } from './connect.js';
import { afterFailure, type Course, draw } from './race-run.js';
import { recording } from './recording.js';

/** Mean time that permits are held, ms. */
const HELD = 10;
/** Percentage of holders that die: they neither release nor renew, so their leases end. */
const DYING = 2;

/**
 * Holds permits and releases them. Records each sign of a holder, whose id is the detail. Allowed: it held at that moment. Not allowed:
 * it had released. Not allowed at moment 0: it called release and got no answer.
 */
export async function holdCalls(course: Course, { store }: Connected): Promise<void> {
  const { raceRun, fraction, goesOn, record } = course;
  const recorded = recording(store, ({ operation, parts: [part] }, answer) => {
    if (answer === undefined && operation !== 'refund') return;
    const id = operation === 'acquire' ? answer!.parts[0]!.at : part!.at;
    const holds = operation !== 'refund' && answer!.allowed;
    record(Number(part!.key), answer?.now ?? 0, part!.cost, holds, id);
  });
  const limiterOf = (policy: number) =>
    new RateLimiter({
      name: `${raceRun.name}-${policy}`,
      policy: raceRun.policies[policy]!,
      store: recorded,
      deadline: '60s',
    });
  const limiters = raceRun.policies.map((_, policy) => limiterOf(policy));
  const runner = async (): Promise<void> => {
    while (goesOn()) {
      const { key, policy, cost } = draw(course);
      const dies = fraction() * 100 < DYING;
      const limiter = dies ? limiterOf(policy) : limiters[policy]!;
      try {
        const decision = await limiter.acquire(key, { cost, timeout: '1s' });
        if (dies) continue;
        await sleep(2 * HELD * fraction());
        await limiter.release(decision);
      } catch (error) {
        if (isRateLimitExceededError(error)) continue; // nothing was free for a second
        if (!isStoreUnavailableError(error)) throw error;
        if (raceRun.calls === undefined) await afterFailure();
      } finally {
        if (dies) await limiter.close();
      }
    }
  };
  await Promise.all(Array.from({ length: raceRun.inFlight }, runner));
  for (const limiter of limiters) await limiter.close();
}
