import { shortPeriodOf, warnOnce } from '@sluice/core/internal';
import type { RequestLimiter } from './request-limiter.js';

/** Warns about windows given as a number below 1000: `window: 60` means 60 ms. */
export function warnOfShortWindows(where: string, { limiters }: RequestLimiter): void {
  for (const { name, policies } of Object.values(limiters)) {
    for (const policy of Object.values(policies)) {
      const short = shortPeriodOf(policy);
      if (short === undefined) continue;
      const { option, value } = short;
      warnOnce(
        'SLUICE_SHORT_WINDOW',
        name,
        `${where}: ${option}: ${value} of limit '${name}' is ${value} milliseconds. Write '${value}s' if you mean seconds, ` +
          `'${value}ms' if you mean milliseconds`,
      );
    }
  }
}
