import type { Policy } from '@sluice/core';
import { run } from '../../website/playground/run.js';

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

/** Makes the calls as the playground does. @returns the moments at which calls passed, in order */
export async function admitted({ policy, moments, waits = false, holds }: Offer): Promise<number[]> {
  const { requests } = await run({
    policy,
    moments: moments.map((moment) => moment / 1000),
    // All that wait have passed by then.
    length: Math.max(0, ...moments) / 1000 + 3_600_000,
    wait: waits ? {} : undefined,
    holds: holds === undefined ? undefined : holds / 1000,
  });
  const went = requests.flatMap((request) => (request.went === undefined ? [] : [request.went * 1000]));
  return went.map(Math.round).sort((a, b) => a - b);
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
