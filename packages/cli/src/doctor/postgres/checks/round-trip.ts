import { postgresCheck } from '../check.js';

const TRIPS = 20;
/** ms. */
const CLOCK_OFF = 1_000;

/** Checks how long a reply takes, and the clock that decides. */
export const roundTrip = postgresCheck({
  about: 'round-trip',
  why: {
    'round-trip-slow':
      'A decision takes two round trips: calls miss their deadline, and failure policies decide.',
    'clock-off': 'Resets and waits that clients are shown are off by as much.',
  },
  async look(server, report, deadline) {
    const trips: { took: number; off: number }[] = [];
    for (let trip = 0; trip < TRIPS; trip += 1) {
      const [sent, startedAt] = [Date.now(), performance.now()];
      const { now } = await server.row('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now');
      const took = performance.now() - startedAt;
      trips.push({ took, off: Number(now) - sent - took / 2 });
    }
    trips.sort((a, b) => a.took - b.took);
    const slow = trips[Math.ceil(TRIPS * 0.95) - 1]!.took;
    const what = `A reply takes ${slow.toFixed(1)} ms at p95, and a decision two: the deadline is ${deadline} ms`;
    const fix = 'Move the processes nearer to the server, or give limiters a longer deadline.';
    if (2 * slow >= deadline) report.error('round-trip-slow', what, fix);
    else if (4 * slow >= deadline) report.warning('round-trip-slow', what, fix);
    else report.ok(what);
    const off = trips[0]!.off;
    if (Math.abs(off) >= CLOCK_OFF)
      report.warning(
        'clock-off',
        `The clock of the server differs from ours by ${Math.round(off / 1000)} s`,
        'Run NTP on both machines.',
      );
  },
});
