import { deploymentCheck } from '../check.js';
import type { DoctorNode } from '../node.js';

const OURS_MS = 1_000;
const EACH_OTHER_MS = 100;
const DAY_MS = 86_400_000;
/** The earliest plausible time: before it, Sluice cannot tell its own entries from foreign ones. */
const EARLIEST = Date.UTC(1988, 0, 1);
const MEND =
  'Run NTP that slews (chrony, ntpd -x) on every server and here: chronyc tracking shows the difference.';

interface Clock {
  readonly name: string;
  /** The server's clock minus the local clock, ms. */
  readonly ahead: number;
  /** Uncertainty of the difference, ms. */
  readonly within: number;
  readonly now: number;
}

/** Compares the clocks of the servers with the local clock and with each other. */
export const clock = deploymentCheck({
  about: 'clock',
  why: {
    'clock-unset': 'Calls reject with StoreConfigurationError until it is set.',
    'clock-off':
      "The server's clock decides: daily windows end at another moment than here, and logs disagree.",
    'clocks-differ':
      'A failover or a moving slot is then a jump of the clock: at most one limit is admitted extra per key.',
  },
  compare({ nodes }, report) {
    const clocks = nodes.flatMap(clockOf);
    for (const { name, now, ahead, within } of clocks) {
      if (now < EARLIEST) {
        report.error('clock-unset', `The clock of ${name} shows ${new Date(now).toISOString()}`, MEND);
      } else if (Math.abs(ahead) > OURS_MS + within) {
        const what = `The clock of ${name} is ${distance(ahead)} ours`;
        if (Math.abs(ahead) > DAY_MS) report.error('clock-off', what, MEND);
        else report.warning('clock-off', what, MEND);
      }
    }
    const [first, last] = [least(clocks), least(clocks.map((one) => ({ ...one, ahead: -one.ahead })))];
    if (first === undefined || last === undefined) return;
    const spread = -last.ahead - first.ahead;
    if (spread > EACH_OTHER_MS + first.within + last.within)
      report.warning(
        'clocks-differ',
        `The clock of ${last.name} is ${distance(spread)} the clock of ${first.name}`,
        MEND,
      );
    const worst = Math.max(...clocks.map(({ ahead }) => Math.abs(ahead)));
    if (worst <= OURS_MS)
      report.ok(
        `${clocks.length === 1 ? 'the clock is' : 'all clocks are'} within ${Math.ceil(worst)} ms of ours`,
      );
  },
});

const least = (clocks: readonly Clock[]): Clock | undefined =>
  [...clocks].sort((a, b) => a.ahead - b.ahead)[0];

/** The difference by the fastest reply, which is the most precise. */
function clockOf({ name, moments }: DoctorNode): Clock[] {
  const [quickest] = [...moments].sort((a, b) => a.received - a.sent - (b.received - b.sent));
  if (quickest === undefined) return [];
  const { sent, received, server } = quickest;
  return [{ name, ahead: server - (sent + received) / 2, within: (received - sent) / 2 + 1, now: server }];
}

function distance(ms: number): string {
  const seconds = Math.abs(ms) / 1_000;
  const text = seconds < 1 ? `${Math.round(Math.abs(ms))} ms` : `${Number(seconds.toFixed(1))} s`;
  return `${text} ${ms > 0 ? 'ahead of' : 'behind'}`;
}
