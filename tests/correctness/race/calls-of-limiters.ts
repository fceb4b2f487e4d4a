import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiter } from '../../../packages/core/src/index.js';
import type { Connected } from './connect.js';
import { type Course, draw } from './race-run.js';

/**
 * Mean pause between two calls of a caller, ms: a decision in this process takes almost no time. Eight callers of a process still call for
 * several times the limits of the test.
 */
const PAUSE = 10;

/** Long enough that a busy machine is no outage. */
const DEADLINE = '1s';

/**
 * Calls whole limiters, whose failure policies decide while the store is out. Records moments by this process's clock and, as the
 * detail, the time until every permit is back, µs.
 */
export async function decideCalls(course: Course, { store }: Connected): Promise<void> {
  const { raceRun, fraction, goesOn, record } = course;
  const { name, policies, failurePolicies } = raceRun;
  const limiters = policies.map((policy, i) => {
    const failurePolicy = failurePolicies?.[i];
    return new RateLimiter({ name: `${name}-${i}`, policy, store, failurePolicy, deadline: DEADLINE });
  });
  const runner = async (): Promise<void> => {
    while (goesOn()) {
      const { key, policy } = draw(course);
      const start = Date.now();
      const { allowed, cost, resetAfter, degraded } = await limiters[policy]!.consume(key);
      const end = Date.now();
      // Redis decided between the two moments, which are far from each other on a stalled machine. This process decides at the end.
      const moment = degraded ? end : (start + end) / 2;
      record(key, moment * 1000, cost, allowed, resetAfter * 1000, degraded);
      await sleep(2 * PAUSE * fraction());
    }
  };
  await Promise.all(Array.from({ length: raceRun.inFlight }, runner));
  for (const limiter of limiters) await limiter.close();
}
