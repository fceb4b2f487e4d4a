import { setTimeout as sleep } from 'node:timers/promises';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { isStoreUnavailableError } from '../../../packages/core/src/index.js';
import { limitOf } from '../../support/limit-of.js';
import type { Connected } from './connect.js';
import { afterFailure, type Course, draw, keyOf } from './race-run.js';

/**
 * Mean pause before the callers of a process call again, all together, in a run that lasts until its faults are over, ms. Eight processes of 32
 * callers still call for twice the permits that there are. Without a pause such a run would use both cores for all its time; and calls that are
 * sent one by one take several times as long as a batch.
 */
const PAUSE = 40;

/** Calls the store itself, without a deadline. Records the moment of each decision, and the time until every permit is back. */
export async function consumeCalls(course: Course, { store }: Connected): Promise<void> {
  const { raceRun, fraction, goesOn, record } = course;
  const limits = raceRun.policies.map((policy) => limitOf(compilePolicy(policy)));
  let pause: Promise<void> | undefined;
  const pauseOfAll = () => {
    pause ??= sleep(2 * PAUSE * fraction()).then(() => {
      pause = undefined;
    });
    return pause;
  };
  const runner = async (): Promise<void> => {
    while (goesOn()) {
      const { key, policy, cost } = draw(course);
      const part = { limit: limits[policy]!, key: keyOf(raceRun, key), cost, at: 0 };
      try {
        const { allowed, now, parts } = await store.decide({ operation: 'consume', wait: 0, parts: [part] });
        record(key, now, cost, allowed, parts[0]!.reset);
        if (raceRun.calls === undefined) await pauseOfAll();
      } catch (error) {
        if (!isStoreUnavailableError(error)) throw error;
        if (raceRun.calls === undefined) await afterFailure();
      }
    }
  };
  await Promise.all(Array.from({ length: raceRun.inFlight }, runner));
}
