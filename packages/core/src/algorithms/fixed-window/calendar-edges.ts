import type { Calendar } from './calendar.js';
import { startOfDayIn } from './time-zone.js';

const DAY = 86_400_000;

/**
 * `head`, then the moments (µs since the epoch, ascending) at which windows around `now` (µs) begin: 15 for days, otherwise 8, and fewer
 * around 1970, because no moment is negative. The same for every `now` of one UTC day, and computed once for it.
 */
export function edgesAround(
  calendar: Calendar,
  timeZone: string,
  head: readonly number[],
): (now: number) => readonly number[] {
  const startOfDay = startOfDayIn(timeZone);
  let known = Number.NaN;
  let parameters = head;
  return (now) => {
    const today = Math.floor(now / (DAY * 1000));
    if (today !== known) {
      const present = calendar.indexOf(today);
      const edges = new Set<number>(); // a date that a zone skipped is no day
      for (let i = present - calendar.before; i <= present + calendar.after; i += 1) {
        const edge = startOfDay(calendar.dayOf(i)) * 1000;
        if (edge >= 0) edges.add(edge);
      }
      parameters = [...head, ...edges];
      known = today;
    }
    return parameters;
  };
}
