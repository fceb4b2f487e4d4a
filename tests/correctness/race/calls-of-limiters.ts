import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiter } from '../../../packages/core/src/index.js';
import type { Connected } from './connect.js';
import { type Course, draw } from './race-run.js';

/** ms between two calls of one who asks, on average: what decides in this process takes no time at all. */
const PAUSE = 5;

/** A busy machine is no outage. */
const DEADLINE = '1s';

/**
 * Asks whole limiters, which decide by themselves while the store is out. Records the moments of this process, and, as the detail, in how
 * many µs every permit is back.
 */
export async function decideCalls(course: Course, { store }: Connected): Promise<void> {
  const { raceRun, fraction, goesOn, record } = course;
  const { name, policies, failurePolicy } = raceRun;
  const limiters = policies.map(
    (policy, i) =>
      new RateLimiter({ name: `${name}-${i}`, policy, store, failurePolicy, deadline: DEADLINE }),
  );
  const runner = async (): Promise<void> => {
    while (goesOn()) {
      const { key, policy } = draw(course);
      const { allowed, cost, resetAfter, degraded } = await limiters[policy]!.consume(key);
      record(key, Date.now() * 1000, cost, allowed, resetAfter * 1000, degraded);
      await sleep(2 * PAUSE * fraction());
    }
  };
  await Promise.all(Array.from({ length: raceRun.inFlight }, runner));
  for (const limiter of limiters) await limiter.close();
}
