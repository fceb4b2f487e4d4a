import { checkOptions, describe } from '../../options.js';
import { type TokenBucketPolicy, tokenBucket } from './token-bucket.js';

/**
 * The bucket of Guava's RateLimiter: `rate` permits a second, and a capacity of `burst` seconds of them, but at least one permit:
 * a smaller bucket could never admit a call. A `rate` of 0 closes the limit: every call is denied. An `acquire` above the
 * capacity waits until its permits have flowed in; `waitBeyondCapacity: false` refuses it.
 * @throws RangeError naming the invalid number
 */
export function tokenBucketOfRate(options: {
  readonly rate: number;
  readonly burst: number;
  readonly waitBeyondCapacity?: boolean;
}): TokenBucketPolicy {
  checkOptions('tokenBucketOfRate', options, ['rate', 'burst', 'waitBeyondCapacity']);
  const { rate, burst, waitBeyondCapacity = true } = options;
  for (const [name, value] of Object.entries({ rate, burst })) {
    if (name === 'rate' && value === 0) continue;
    if (typeof value !== 'number' || !(value >= 1e-8 && value <= 1e12)) {
      throw new RangeError(
        `tokenBucketOfRate: ${name} must be a number from 1e-8 to 1e12, not ${describe(value)}`,
      );
    }
  }
  if (rate === 0) return tokenBucket({ capacity: 0, refill: 0, every: 1000 });
  const { refill, seconds } = fraction(rate);
  const capacity = Math.max(1, rate * burst);
  return tokenBucket({ capacity, refill, every: seconds * 1000, waitBeyondCapacity });
}

/** The simplest fraction that is the given double to 9 digits, by continued fractions: 1 / 60 is meant as 1 in 60 s. */
function fraction(rate: number): { refill: number; seconds: number } {
  let [refill, seconds] = [Math.floor(rate), 1];
  let [lastRefill, lastSeconds] = [1, 0];
  let rest = rate - refill;
  while (Math.abs(refill / seconds - rate) > rate * 1e-9) {
    const whole = Math.floor(1 / rest);
    rest = 1 / rest - whole;
    [refill, lastRefill] = [whole * refill + lastRefill, refill];
    [seconds, lastSeconds] = [whole * seconds + lastSeconds, seconds];
  }
  return { refill, seconds };
}
