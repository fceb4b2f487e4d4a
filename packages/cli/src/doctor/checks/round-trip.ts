import { count } from '../../words.js';
import { nodeCheck } from '../check.js';

/** Compares the duration of a call with the deadline of the limiters. */
export const roundTrip = nodeCheck({
  about: 'round-trip',
  why: {
    'round-trip-slow': 'Calls that take longer than their deadline are decided by the failurePolicy.',
  },
  of: 'primaries',
  look({ moments }, report, { deadline }) {
    if (moments.length === 0) return; // the refusal of TIME is reported
    const times = moments.map(({ roundTrip }) => roundTrip).sort((a, b) => a - b);
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    const what = `p50 ${ms(p50)}, p99 ${ms(p99)} over ${count(times.length, 'call')}; the deadline is ${ms(deadline)}`;
    const mend =
      'Run the processes nearer to Redis, or give limiters a longer deadline. Pass yours with --limiter-deadline.';
    if (p99 >= deadline) report.error('round-trip-slow', what, mend);
    else if (p99 >= deadline / 2) report.warning('round-trip-slow', what, mend);
    else report.ok(what);
  },
});

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!;

const ms = (time: number): string => `${Number(time.toFixed(time < 10 ? 2 : 0))} ms`;
