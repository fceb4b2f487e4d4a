import {
  MAX_LIMIT,
  slidingLog,
  slidingLogAlgorithm,
  slidingLogKind,
} from './algorithms/sliding-log/sliding-log.js';
import { type Duration, toMicros } from './duration.js';
import { checkInteger, checkOptions, describe } from './options.js';
import type { RateChange, StoredRate } from './shared-rates/stored-rate.js';

export interface SharedRate {
  /** `'OVERALL'` (default): the fleet shares the rate; `'PER_CLIENT'`: each client has it for itself. */
  readonly mode?: 'OVERALL' | 'PER_CLIENT';
  /** Permits in any `interval`: a whole number from 1 to 10,000; each call in the interval takes 16 bytes. */
  readonly rate: number;
  readonly interval: Duration;
  /** For how long after its last use it is remembered, at least `interval`; default ten years. */
  readonly keepAliveTime?: Duration;
}

/** A shared rate as it holds now; times in milliseconds. */
export interface SharedRateConfig {
  readonly mode: 'OVERALL' | 'PER_CLIENT';
  readonly rate: number;
  readonly interval: number;
  readonly keepAliveTime: number;
}

const METHODS = { try: 'trySetRate', set: 'setRate', update: 'updateRate' } as const;

/** @throws TypeError, RangeError naming the option that is wrong */
export function storedRate(
  action: RateChange['action'] & keyof typeof METHODS,
  options: SharedRate,
): StoredRate {
  const where = METHODS[action];
  checkOptions(where, options, ['mode', 'rate', 'interval', 'keepAliveTime']);
  const { mode = 'OVERALL', rate, interval, keepAliveTime = '3650d' } = options;
  if (mode !== 'OVERALL' && mode !== 'PER_CLIENT') {
    throw new TypeError(`${where}: mode must be 'OVERALL' or 'PER_CLIENT', not ${describe(mode)}`);
  }
  const policy = slidingLog({
    limit: checkInteger(`${where}: rate`, rate, 1, MAX_LIMIT),
    window: toMicros(`${where}: interval`, interval) / 1000,
  });
  const { parameters, window } = slidingLogKind.compile(policy);
  const keepAlive = toMicros(`${where}: keepAliveTime`, keepAliveTime);
  if (keepAlive < window) {
    throw new RangeError(
      `${where}: keepAliveTime ${describe(keepAliveTime)} must be at least the interval: a rate that is forgotten earlier starts anew, full`,
    );
  }
  return { keepAlive, perClient: mode === 'PER_CLIENT' ? 1 : 0, parameters };
}

export function configOf({ perClient, parameters, keepAlive }: StoredRate): SharedRateConfig {
  const { limit, window } = slidingLogAlgorithm.size(parameters);
  return {
    mode: perClient === 1 ? 'PER_CLIENT' : 'OVERALL',
    rate: limit,
    interval: window / 1000,
    keepAliveTime: keepAlive / 1000,
  };
}
