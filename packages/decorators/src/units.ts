import type { Duration } from '@sluice/core';
import { warnOnce } from '@sluice/core/internal';

const [HOUR, DAY, YEAR] = [3600, 86_400, 366 * 86_400];

/** Warns about a wait of 1 to 99, which is milliseconds: rarely worth a wait, and seconds in `@RateLimit`. */
export function warnOfShortTimeout(timeout: Duration | undefined): void {
  if (typeof timeout !== 'number' || !Number.isInteger(timeout) || timeout < 1 || timeout > 99) return;
  warnOnce(
    'SLUICE_UNIT',
    `@Limit ${timeout}`,
    `@Limit: timeout: ${timeout} is ${timeout} milliseconds. Write '${timeout}s' if you mean seconds, '${timeout}ms' if you mean milliseconds`,
  );
}

/**
 * Warns about seconds that look like milliseconds: thousands, unless they are whole hours up to a day or whole days up to a year, such as 36000
 * (10 hours) or 2592000 (30 days).
 * @param what the decorator and its attribute: `@CountLimit: period`
 */
export function warnOfManySeconds(what: string, seconds: number): void {
  const isRound = (seconds % HOUR === 0 && seconds <= DAY) || (seconds % DAY === 0 && seconds <= YEAR);
  if (seconds < 1000 || seconds % 1000 !== 0 || isRound) return;
  const [long, unit] = seconds < 2 * HOUR ? [seconds / 60, 'minutes'] : [seconds / HOUR, 'hours'];
  const name = what.split(' ').at(-1);
  warnOnce(
    'SLUICE_UNIT',
    `${what} ${seconds}`,
    `${what}: ${seconds} is ${seconds} seconds, which are ${Math.round(long * 10) / 10} ${unit}. Write ${name}: ${seconds / 1000} if you mean ` +
      `${seconds} milliseconds`,
  );
}
