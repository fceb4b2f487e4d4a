import type { LimiterKey } from '../keys/key-part.js';
import { warnOnce } from '../warnings.js';

/** What one request was counted for by one limiter; the next one is of another. */
interface Counted {
  readonly identity: object;
  readonly limiterName: string;
  readonly keys: readonly LimiterKey[];
  readonly next?: Counted | undefined;
}

/** On a framework's request: in a WeakMap, an entry for each request would be work for the garbage collector. */
const COUNTED = Symbol.for('sluice.counted');

/** @returns whether it has warned */
export function warnOfTwice(
  where: string,
  request: { [COUNTED]?: Counted },
  { identity, limiterName, keys }: Counted,
): boolean {
  const before = request[COUNTED];
  request[COUNTED] = { identity, limiterName, keys, next: before };
  for (let one = before; one !== undefined; one = one.next) {
    if (one.identity !== identity || one.limiterName !== limiterName) continue;
    const same = one.keys.some((key, i) => key === keys[i]);
    if (!same) continue;
    warnOnce(
      'SLUICE_COUNTED_TWICE',
      limiterName,
      `${where}: limit '${limiterName}' counted one request twice for the same key, so half of the limit is lost. ` +
        'Put it in the way of a request once, or give the limits names of their own',
    );
    return true;
  }
  return false;
}
