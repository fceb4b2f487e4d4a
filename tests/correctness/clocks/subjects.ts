import { conformances, merged } from '../../support/conformance/all.js';
import { DAY, HOUR, SECOND, YEAR } from '../../support/conformance/subject-parts.js';

export type { Subject } from '../../support/conformance/conformance.js';
export { LIMIT } from '../../support/conformance/subject-parts.js';
export { DAY, HOUR, SECOND, YEAR };

/** Every algorithm in each of its modes. In Redis nothing may expire by the server's own clock while a test runs. */
export const subjects = merged((record) => record.subjects);

/** Those whose `acquire` spaces its calls: one permit taken, and the next call waits. */
export const spaced: ReadonlySet<string> = new Set(
  conformances.filter(({ spaces }) => spaces).flatMap((record) => Object.keys(record.subjects)),
);

/** Those whose permits are held. */
export const held: ReadonlySet<string> = new Set(
  conformances.filter(({ holds }) => holds).flatMap((record) => Object.keys(record.subjects)),
);

export const jumps: Readonly<Record<string, number>> = {
  'forward by 1 s': SECOND,
  'back by 1 s': -SECOND,
  'forward by 1 h': HOUR,
  'back by 1 h': -HOUR,
  'forward by 1 day': DAY,
  'back by 1 day': -DAY,
  'forward by 10 years': 10 * YEAR,
  'back by 10 years': -10 * YEAR,
};
