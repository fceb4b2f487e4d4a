import type { Rule } from '../algorithms/algorithm.js';
import { type Duration, toMicros } from '../duration.js';
import { checkInteger, checkOptions, describe } from '../options.js';
import type { PrefetchLimits } from './permit-pool.js';

export interface PrefetchOptions {
  /** The most permits of a key that this process takes beyond those it needs now: a whole number ≥ 1. Never more than a tenth of the limit. */
  readonly most: number;
  /**
   * How long at the most a permit lies here unspent, before it is given back; default `'1s'`, at
   * the least 10 ms. Less where the algorithm says so: the end of
   * the window or of its slot; of a bucket the time in which a tenth of it flows back.
   */
  readonly idle?: Duration | undefined;
}

/** What is asked for a limit, whose algorithm may not allow it. */
export interface WantedPrefetch extends PrefetchLimits {
  /** It is a default of several limits, and not for those whose algorithm does not allow it. */
  readonly isDefault?: boolean;
}

/** Marks options that are a default. A symbol of the process: this package may be loaded twice, as ESM and as CommonJS. */
const DEFAULT = Symbol.for('sluice.prefetch.default');

/** `prefetch` as a default of several limits: those whose permits must be spent when they are taken do without, and throw nothing. */
export function prefetchDefault<P extends PrefetchOptions | false | undefined>(prefetch: P): P {
  return typeof prefetch === 'object' && prefetch !== null ? { ...prefetch, [DEFAULT]: true } : prefetch;
}

/** Of the limit, that one process may have ahead: one part in so many. */
const SHARE = 10;
/** µs: in less, a block would be over when it comes. */
const SHORTEST = 10_000;

/** @throws TypeError, RangeError when it is not acceptable */
export function readPrefetch(where: string, options: PrefetchOptions): WantedPrefetch {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `${where}: prefetch must be { most, idle }, such as { most: 100 }, or false for none, not ${describe(options)}`,
    );
  }
  checkOptions(`${where}: prefetch`, options, ['most', 'idle']);
  const { most, idle = '1s' } = options;
  return {
    most: checkInteger(`${where}: prefetch.most`, most, 1),
    longest: toMicros(`${where}: prefetch.idle`, idle, SHORTEST),
    isDefault: DEFAULT in options,
  };
}

/**
 * The rule of a limit whose permits may be taken ahead. Where a tenth of the limit is not one permit, or flows back within 10 ms, none are,
 * and the rule is as it was.
 * @throws TypeError when permits of its algorithm must be spent when they are taken, unless it is a default that is wanted
 */
export function prefetching(
  where: string,
  rule: Rule,
  { most, longest, isDefault }: WantedPrefetch,
): { readonly rule: Rule; readonly prefetch?: PrefetchLimits } {
  const { algorithm, parameters } = rule;
  const ahead = algorithm.ahead?.(parameters, longest);
  if (ahead === undefined) {
    if (isDefault) return { rule };
    throw new TypeError(
      `${where}: prefetch is for fixedWindow, slidingWindow, gcra, leakyBucket and tokenBucket that fills steadily and lends nothing: ` +
        'of others a permit has to be spent when it is taken. Use slidingWindow in place of slidingLog, a tokenBucket without borrow ' +
        "and mode 'interval', or leave prefetch out",
    );
  }
  if (rule.limit < SHARE || ahead.longest < SHORTEST) return { rule };
  const prefetch = { most: Math.min(most, Math.floor(rule.limit / SHARE)), longest: ahead.longest };
  if (ahead.parameters === parameters || rule.parametersAt !== undefined) return { rule, prefetch };
  return {
    rule: { algorithm, parameters: ahead.parameters, ...algorithm.size(ahead.parameters) },
    prefetch,
  };
}
