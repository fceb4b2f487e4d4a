import type { Parameters } from '../algorithms/algorithm.js';
import { MAX_LIMIT, slidingLogAlgorithm } from '../algorithms/sliding-log/sliding-log.js';
import { type Duration, MAX_MICROS, toMicros } from '../duration.js';
import { checkInteger, checkOneOf, checkOptions, describe } from '../options.js';
import type { RateChange, StoredRate } from '../stores/shared-rate.js';

/** A rate as `trySetRate`, `setRate` and `updateRate` take it. */
export interface SharedRate {
  /** `'OVERALL'` (default): all clients share the rate; `'PER_CLIENT'`: each client has the whole rate. */
  readonly mode?: 'OVERALL' | 'PER_CLIENT';
  /**
   * Permits in any `interval`: a whole number from 1 to 2^53 - 1. Up to 10,000, each call of the interval is stored in 16 bytes, and
   * its permits return to the microsecond. Above 10,000 the calls of a thousandth of the interval are stored together: a permit
   * returns up to that much later.
   */
  readonly rate: number;
  /** The time in which `rate` permits may go. */
  readonly interval: Duration;
  /** How long the rate is kept after its last use, at least `interval`; default ten years. */
  readonly keepAliveTime?: Duration;
}

/** The current shared rate; times in milliseconds. */
export interface SharedRateConfig {
  readonly mode: 'OVERALL' | 'PER_CLIENT';
  readonly rate: number;
  readonly interval: number;
  readonly keepAliveTime: number;
}

/** Slots per interval, for a rate too large to store each call. */
const SLOTS = 1000;

const METHODS = { try: 'trySetRate', set: 'setRate', update: 'updateRate' } as const;

/** @throws TypeError, RangeError naming the invalid option */
export function storedRate(
  action: RateChange['action'] & keyof typeof METHODS,
  options: SharedRate,
): StoredRate {
  const where = METHODS[action];
  checkOptions(where, options, ['mode', 'rate', 'interval', 'keepAliveTime']);
  const { mode = 'OVERALL', rate, interval, keepAliveTime = '3650d' } = options;
  checkOneOf(`${where}: mode`, mode, ['OVERALL', 'PER_CLIENT']);
  const limit = checkInteger(`${where}: rate`, rate, 1);
  const window = toMicros(`${where}: interval`, interval);
  const parameters = parametersOf(where, limit, window);
  const keepAlive = toMicros(`${where}: keepAliveTime`, keepAliveTime);
  if (keepAlive < window) {
    throw new RangeError(
      `${where}: keepAliveTime ${describe(keepAliveTime)} must be at least the interval: a rate that expires earlier starts again with all permits`,
    );
  }
  return { keepAlive, perClient: mode === 'PER_CLIENT' ? 1 : 0, parameters };
}

/** Parameters of a sliding log that stores each call, or the calls of a slot together. */
function parametersOf(where: string, limit: number, window: number): Parameters {
  if (limit <= MAX_LIMIT) return [limit, window];
  const slot = Math.ceil(window / SLOTS);
  if (window + slot <= MAX_MICROS) return [limit, window, slot];
  throw new RangeError(
    `${where}: with a rate above ${MAX_LIMIT} the interval and a thousandth of it must be at most 3650 days together; use a shorter interval`,
  );
}

export function configOf({ perClient, parameters, keepAlive }: StoredRate): SharedRateConfig {
  const { limit, window } = slidingLogAlgorithm.figures.size(parameters);
  return {
    mode: perClient === 1 ? 'PER_CLIENT' : 'OVERALL',
    rate: limit,
    interval: window / 1000,
    keepAliveTime: keepAlive / 1000,
  };
}
