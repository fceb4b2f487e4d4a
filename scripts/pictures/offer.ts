import { ManualClock, memoryStore, type Policy, RateLimitExceededError, RateLimiter } from '@sluice/core';

export const SECOND = 1_000_000;

/** Calls of one caller, and how they ask. Moments are µs since the first one could have come. */
export interface Offer {
  readonly policy: Policy;
  readonly moments: readonly number[];
  /** Do calls wait for their permits (`acquire`), or take a no (`consume`)? */
  readonly waits?: boolean;
  /** How long an admitted call holds its permit (µs), for `concurrency`. */
  readonly holds?: number;
}

/** Makes the calls of a real limiter, in memory and by a clock of our own. @returns when calls went, in order */
export async function admitted({ policy, moments, waits = false, holds }: Offer): Promise<number[]> {
  const clock = new ManualClock();
  const start = clock.now();
  const store = memoryStore({ clock });
  const limiter = new RateLimiter({ name: 'picture', policy, store });
  const went: number[] = [];
  const calls: Promise<unknown>[] = [];
  const call = async (): Promise<void> => {
    const decision = waits ? await limiter.acquire('caller') : await limiter.consume('caller');
    if (!decision.allowed) return;
    went.push(clock.now() - start);
    if (holds === undefined) return;
    await clock.sleep(holds);
    await limiter.release(decision);
  };
  const until = (moment: number) => clock.advance((moment - clock.now()) / 1000);

  for (const moment of moments) {
    // Where nobody sleeps there is nobody to wake, and thousands of calls take no time.
    if (waits || holds !== undefined) await until(start + moment);
    else clock.set(start + moment);
    const asked = call().catch(refused);
    if (waits || holds !== undefined) calls.push(asked);
    else await asked;
  }
  await until(clock.now() + 3600 * SECOND);
  await Promise.all(calls);
  await limiter.close();
  await store.close();
  return went;
}

function refused(error: unknown): void {
  if (!(error instanceof RateLimitExceededError)) throw error;
}

/** `count` calls, evenly spaced over `length`. */
export const spread = (from: number, length: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + Math.round((i * length) / count));

/** Of all windows (t - length, t] the one with most in it. */
export function busiest(
  moments: readonly number[],
  length: number,
): { readonly count: number; readonly end: number } {
  let best = { count: 0, end: 0 };
  let first = 0;
  moments.forEach((moment, last) => {
    while (moments[first]! <= moment - length) first += 1;
    if (last - first + 1 > best.count) best = { count: last - first + 1, end: moment };
  });
  return best;
}

/** How many lie in [from, to). */
export const between = (moments: readonly number[], from: number, to: number): number =>
  moments.filter((moment) => moment >= from && moment < to).length;
