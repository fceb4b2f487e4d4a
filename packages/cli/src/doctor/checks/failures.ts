import { count } from '../../words.js';
import { nodeCheck } from '../check.js';
import { pairsIn } from '../info.js';

/** Errors that limiters treat as an outage or as a misconfiguration. */
const SERIOUS = [
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOAUTH',
  'NOPERM',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'WRONGPASS',
  'WRONGTYPE',
];

/** Checks the errors of the server so far, and the duration of scripts. */
export const failures = nodeCheck({
  about: 'failures',
  why: {
    'errors-counted': 'If the calls were decisions, the failurePolicy has decided, or callers got an error.',
    'scripts-slow': 'Redis runs one script at a time: other decisions wait meanwhile.',
  },
  of: 'primaries',
  look({ info }, report) {
    if (!info.known) return;
    const counts = SERIOUS.flatMap((code) => {
      const times = pairsIn(info.optional(`errorstat_${code}`) ?? '').count;
      return times === undefined ? [] : [`${code} ${count(Number(times), 'time')}`];
    });
    if (counts.length > 0)
      report.note(
        'errors-counted',
        `Since its start the server has answered with ${counts.join(', ')}`,
        'Find the cause of errors that rise; CONFIG RESETSTAT starts the count again.',
      );
    const { calls, usec_per_call: micros } = pairsIn(info.optional('cmdstat_evalsha') ?? '');
    if (micros === undefined) return;
    const what = `A script call takes ${micros} µs on average, over ${count(Number(calls), 'call')}`;
    if (Number(micros) >= 1_000)
      report.warning(
        'scripts-slow',
        what,
        'Look in SLOWLOG GET for a slidingLog of thousands of calls or a queue of hundreds: a slidingWindow costs less.',
      );
    else report.ok(what);
  },
});
