import { type Duration, MAX_MICROS, toMicros } from '../../duration.js';
import { checkInteger, checkOptions, describe } from '../../options.js';
import type { Algorithm, Parameters, Policy, Question, Rule, State, Step } from '../algorithm.js';
import { NEVER } from '../algorithm.js';
import { tokenBucketScript } from './token-bucket.script.js';

export interface TokenBucketOptions {
  /** Permits that a full bucket holds, ≥ 1: the largest burst. */
  readonly capacity: number;
  /** Permits that flow in during `every`: a whole number ≥ 1. */
  readonly refill: number;
  /** The time in which `refill` permits flow in, steadily. */
  readonly every: Duration;
}

export interface TokenBucketPolicy extends Policy {
  readonly algorithm: 'tokenBucket';
  readonly capacity: number;
  readonly refill: number;
  /** Milliseconds. */
  readonly every: number;
}

/**
 * A bucket that is full at first and fills at a steady rate. In any time span of length t at most
 * `capacity + refill × t / every` permits leave it.
 * @throws RangeError naming the number that is not acceptable
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucketPolicy {
  checkOptions('tokenBucket', options, ['capacity', 'refill', 'every']);
  const { capacity, refill, every } = options;
  if (typeof capacity !== 'number' || !(capacity >= 1 && capacity <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`tokenBucket: capacity must be a number of permits ≥ 1, not ${describe(capacity)}`);
  }
  const policy: TokenBucketPolicy = {
    algorithm: 'tokenBucket',
    capacity,
    refill: checkInteger('tokenBucket: refill', refill, 1),
    every: toMicros('tokenBucket: every', every) / 1000,
  };
  compile(policy);
  return policy;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/**
 * Time is counted in units of which `perMicro` pass in a µs and `perPermit` pay for a permit. With these two whole numbers
 * every rate is exact: 3 permits a second are 1,000,000 units a permit and 3 units a µs.
 */
function compile({ capacity, refill, every }: TokenBucketPolicy): Rule {
  const micros = toMicros('tokenBucket: every', every);
  const shared = divisor(micros, refill);
  const perPermit = micros / shared;
  const perMicro = refill / shared;
  const full = Math.round(capacity * perPermit);
  if (full + perMicro > Number.MAX_SAFE_INTEGER || full / perMicro > MAX_MICROS) {
    throw new RangeError(
      `tokenBucket: capacity ${capacity} with refill ${refill} every ${every} ms is beyond exact numbers ` +
        '(2^53 units, or 3650 days to fill): use a smaller capacity or a rounder rate',
    );
  }
  return {
    algorithm: tokenBucketAlgorithm as Algorithm,
    parameters: [perPermit, perMicro, full],
    limit: Math.floor(full / perPermit),
    window: up(full, perMicro),
    longestWait: Math.min(MAX_MICROS, Math.floor((Number.MAX_SAFE_INTEGER - full) / perMicro)),
  };
}

/** The quotient of two whole numbers, rounded up; exact up to 2^53, where `Math.ceil(a / b)` is not. */
function up(a: number, b: number): number {
  const rest = a % b;
  return (a - rest) / b + (rest > 0 ? 1 : 0);
}

/**
 * One number decides: the moment at which the bucket is full again (GCRA calls it the theoretical arrival time). What is
 * missing now, the debt, is the time until then. gcra and the leaky meter are this same machine under other names.
 *
 * State: [full at (µs, rounded up), units by which that is too late, moment of the last write]. The second is there
 * only when not 0; the third only while permits are booked ahead, when the debt may exceed the bucket. Without it such a
 * debt means that the clock went back.
 */
function step(
  [perPermit, perMicro, full]: Parameters,
  state: State | undefined,
  now: number,
  question: Question,
): Step {
  const { operation, cost } = question;
  let debt = 0;
  let kept = state;
  if (state !== undefined && state[0]! > now) {
    const seen = state[2];
    const skew = seen === undefined ? 0 : Math.max(0, seen - now);
    const owed = (state[0]! - skew - now) * perMicro! - (state[1] ?? 0);
    const most = seen === undefined ? full! : Number.MAX_SAFE_INTEGER;
    debt = Math.min(Math.max(0, owed), most);
    if (skew > 0 || debt !== owed) kept = keep(debt, perMicro!, full!, now); // repaired for good
  }

  if (operation === 'refund') {
    if (debt > 0) {
      debt = Math.max(
        0,
        debt - returned(cost * perPermit!, debt, full! + (question.at - now) * perMicro!, perMicro!),
      );
      kept = keep(debt, perMicro!, full!, now);
    }
    return answer(kept, true, 0, debt, perPermit!, perMicro!, full!);
  }

  const price = cost * perPermit!;
  if (price > full!) return answer(kept, false, NEVER, debt, perPermit!, perMicro!, full!);
  const wait = up(Math.max(0, debt + price - full!), perMicro!);
  const allowed = wait <= question.maxWait;
  if (allowed && operation === 'consume' && cost > 0) {
    debt += price;
    kept = keep(debt, perMicro!, full!, now);
  }
  return answer(kept, allowed, wait, debt, perPermit!, perMicro!, full!);
}

/**
 * What a refund gives back: all of `price`, less what was booked since, for those who booked later keep their moments, and
 * a permit given back before theirs would let two go in one place (Go's `rate.Reservation.CancelAt` does the same).
 * `own` is the debt right after the booking as seen from now, at most one µs too high.
 */
function returned(price: number, debt: number, own: number, perMicro: number): number {
  const since = debt - own;
  return since <= 0 ? price : Math.max(0, price - since - (perMicro - 1));
}

function keep(debt: number, perMicro: number, full: number, now: number): State | undefined {
  if (debt === 0) return undefined;
  const ahead = up(debt, perMicro);
  const late = ahead * perMicro - debt;
  if (debt > full) return [now + ahead, late, now];
  return late > 0 ? [now + ahead, late] : [now + ahead];
}

function answer(
  state: State | undefined,
  allowed: boolean,
  wait: number,
  debt: number,
  perPermit: number,
  perMicro: number,
  full: number,
): Step {
  const left = Math.max(0, full - debt);
  return {
    state,
    allowed,
    remaining: (left - (left % perPermit)) / perPermit,
    wait,
    reset: up(debt, perMicro),
  };
}

export const tokenBucketAlgorithm: Algorithm<TokenBucketPolicy> = {
  name: 'tokenBucket',
  tag: 'tb',
  compile: ({ capacity, refill, every }) => compile(tokenBucket({ capacity, refill, every })),
  step,
  script: tokenBucketScript,
};
