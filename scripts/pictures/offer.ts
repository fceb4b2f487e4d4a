import { ManualClock, memoryStore, type Policy, RateLimitExceededError, RateLimiter } from '@sluice/core';

export const SECOND = 1_000_000;

/** The calls of one client, and their method. Moments are µs since the first possible call. */
export interface Offer {
  readonly policy: Policy;
  readonly moments: readonly number[];
  /** Calls wait for their permits (`acquire`). Otherwise they are decided at once (`consume`). */
  readonly waits?: boolean;
  /** How long an admitted call holds its permit, for `concurrency`, µs. */
  readonly holds?: number;
}

/** Calls a real limiter, in memory and with a manual clock. @returns the moments at which calls passed, in order */
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
    // Skips moments at which no call sleeps, so that thousands of calls take no time.
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

/** The window (t - length, t] with the most moments. */
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

/** The number of moments in [from, to). */
export const between = (moments: readonly number[], from: number, to: number): number =>
  moments.filter((moment) => moment >= from && moment < to).length;
