import type { Rule } from '../algorithms/algorithm.js';
import { type Duration, toMicros } from '../duration.js';
import { checkInteger, checkOptions, describe } from '../options.js';
import type { PrefetchLimits } from '../pipeline/prefetch/permit-pool.js';

/** How many permits a process takes from a remote store in advance. */
export interface PrefetchOptions {
  /** The most permits of a key that this process may take before a call needs them: a whole number ≥ 1. Never more than a tenth of the limit. */
  readonly most: number;
  /**
   * How long an unused permit stays here before it is given back; default `'1s'`, at least 10 ms. At most until the window or its slot
   * ends; for a bucket, the time in which a tenth of it flows back.
   */
  readonly idle?: Duration | undefined;
}

/** The checked options. The algorithm of a limit may not allow them. */
export interface WantedPrefetch extends PrefetchLimits {
  /** A default of several limits: it does not apply to limits whose algorithm does not allow it. */
  readonly isDefault?: boolean;
}

/** Marks options that are a default. A symbol of the process: this package may be loaded twice, as ESM and as CommonJS. */
const DEFAULT = Symbol.for('sluice.prefetch.default');

/** `prefetch` as a default of several limits: it throws nothing for limits that cannot prefetch. */
export function prefetchDefault<P extends PrefetchOptions | false | undefined>(prefetch: P): P {
  return typeof prefetch === 'object' && prefetch !== null ? { ...prefetch, [DEFAULT]: true } : prefetch;
}

/** One process may prefetch at most this part of the limit: 1 in 10. */
const SHARE = 10;
/** µs: a shorter-lived block would expire on its way. */
const SHORTEST = 10_000;

/** @throws TypeError, RangeError for an invalid option */
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
 * The rule of a limit whose permits may be prefetched. None are, and the rule stays the same, if a tenth of the limit is less than one
 * permit or flows back within 10 ms.
 * @param kinds the kinds of policies that can prefetch, for the error
 * @throws TypeError if its algorithm cannot prefetch, unless the options are a default
 */
export function prefetching(
  where: string,
  rule: Rule,
  { most, longest, isDefault }: WantedPrefetch,
  kinds: string,
): { readonly rule: Rule; readonly prefetch?: PrefetchLimits } {
  const { algorithm, parameters } = rule;
  const prefetched = algorithm.prefetch?.narrow(parameters, longest);
  if (prefetched === undefined) {
    if (isDefault) return { rule };
    throw new TypeError(
      `${where}: prefetch is for ${kinds}. Other policies must count a permit when it is used. Use slidingWindow in place of slidingLog, ` +
        'or leave prefetch out',
    );
  }
  if (rule.limit < SHARE || prefetched.longest < SHORTEST) return { rule };
  const prefetch = { most: Math.min(most, Math.floor(rule.limit / SHARE)), longest: prefetched.longest };
  if (prefetched.parameters === parameters || rule.parametersAt !== undefined) return { rule, prefetch };
  return {
    rule: { algorithm, parameters: prefetched.parameters, ...algorithm.figures.size(prefetched.parameters) },
    prefetch,
  };
}
