import type { Answered } from './fleet.js';

/** Permits that were held at least from `start` until `end`, µs of Redis's clock. */
export interface Held {
  readonly start: number;
  readonly end: number;
  readonly cost: number;
}

/**
 * When the holders of one key held, by their signs, in order: from the first allowed answer until the release, or until the end of the
 * lease after the last such answer. A release without an answer may have happened at once: that holder held until its last sign.
 * @param lease µs
 * @param losses moments at which the server forgot all holders
 */
export function heldBy(signs: readonly Answered[], lease: number, losses: readonly number[] = []): Held[] {
  const holders = new Map<
    number,
    { start: number; end: number; last: number; cost: number; open: boolean }
  >();
  const unanswered = new Set<number>();
  for (const { detail: id, moment, cost, allowed } of signs) {
    const holder = holders.get(id);
    if (!allowed && moment === 0) unanswered.add(id);
    else if (holder === undefined && allowed)
      holders.set(id, { start: moment, end: moment + lease, last: moment, cost, open: true });
    else if (holder?.open && allowed) {
      holder.last = moment;
      holder.end = moment + lease;
    } else if (holder?.open) {
      holder.end = Math.min(holder.end, moment);
      holder.open = false;
    }
  }
  return [...holders].map(([id, { start, end, last, cost, open }]) => ({
    start,
    end: Math.min(open && unanswered.has(id) ? last : end, ...losses.filter((moment) => moment > last)),
    cost,
  }));
}

/** Names the first moment at which more than `limit` permits were held; undefined if there is none. */
export function neverMoreHeld(limit: number, held: readonly Held[]): string | undefined {
  // A permit that ends at a moment is not held at that moment.
  const changes = held
    .filter(({ start, end }) => end > start)
    .flatMap(({ start, end, cost }) => [
      { moment: start, change: cost },
      { moment: end, change: -cost },
    ])
    .sort((a, b) => a.moment - b.moment || a.change - b.change);
  let permits = 0;
  for (const { moment, change } of changes) {
    permits += change;
    if (permits > limit) return `${permits} of ${limit} permits are held at ${moment}`;
  }
  return undefined;
}

/** Permits × µs. */
export const heldTime = (held: readonly Held[]): number =>
  held.reduce((sum, { start, end, cost }) => sum + cost * (end - start), 0);
