import { MAX_MICROS } from '../../duration.js';
import type { Rule } from '../algorithm.js';
import { up } from '../algorithm.js';
import { meterAlgorithm } from './meter.js';
import { exactDebt, type MeterParameters, SAVED, SPACED } from './meter-state.js';

/** The numbers of a token bucket, a GCRA or a leaky bucket. */
export interface MeterNumbers {
  /** The policy and its numbers, as an error names them. */
  readonly policy: string;
  /** Permits in a full bucket. 0 closes the limit, and so does a refill of 0. */
  readonly capacity: number;
  /** Permits that flow back during `every`, and what that is in µs. */
  readonly refill: number;
  readonly every: number;
  /** Do they all flow back at its end? Default: no, steadily. */
  readonly inBatches?: boolean;
  /** Permits that may be taken beyond the capacity. Default 0. */
  readonly borrow?: number | undefined;
  /** Permits in the bucket of a new key. Default `capacity`. */
  readonly initial?: number | undefined;
  /** Does `acquire` space calls out, or save up for a cost above the capacity? Default: neither. */
  readonly acquires?: 'spaced' | 'saved' | undefined;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** @throws RangeError when the numbers are beyond exact arithmetic */
export function meterRule(numbers: MeterNumbers): Rule {
  const { policy, every, inBatches, acquires } = numbers;
  const closed = numbers.capacity === 0 || numbers.refill === 0;
  const capacity = closed ? 0 : numbers.capacity;
  const refill = closed ? Math.max(1, numbers.refill) : numbers.refill;
  const { borrow = 0, initial = capacity } = closed ? {} : numbers;
  const shared = divisor(every, refill);
  const perPermit = inBatches ? 1 : every / shared;
  const perTick = inBatches ? refill : refill / shared;
  const tick = inBatches ? every : 1;
  const full = Math.round(capacity * perPermit);
  const debt = borrow * perPermit;
  if (full + debt > exactDebt(perTick, tick) || up(full + debt, perTick) * tick > MAX_MICROS) {
    throw new RangeError(
      `${policy} is beyond exact numbers (2^53 units, or 3650 days to fill): use a smaller bucket or a rounder rate`,
    );
  }
  const shape = acquires === 'spaced' ? SPACED : acquires === 'saved' && !closed ? SAVED : 0;
  const start = initial === capacity ? 0 : full - initial * perPermit;
  const parameters: MeterParameters = [perPermit, perTick, full, debt, start, shape, tick];
  return { algorithm: meterAlgorithm, parameters, ...meterAlgorithm.figures.size(parameters) };
}
