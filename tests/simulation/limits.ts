import type { Policy, RateLimiterOptions } from '../../packages/core/src/index.js';
import { inAnySpan, inAnyWindow, inClockWindows, type Judge } from '../correctness/race/judge.js';
import type { Product } from './instance.js';

/** A policy, and its promise in words of its own. Times are µs. */
export interface Rule {
  readonly limit: number;
  /** After this time without calls every permit is back, also if the clock went back. */
  readonly whole: number;
  make(product: Product, limit: number): Policy;
  /** What a limit of `limit` promises; undefined: permits are held. */
  judge?(limit: number): Judge;
  /** Permits flow back one by one. */
  readonly isBucket?: true;
  /** How long a permit is held without a renewal. */
  readonly lease?: number;
}

/** A limiter of every process. */
export interface Limit {
  readonly name: string;
  /** By their names; a single one has the limiter's name. */
  readonly rules: Readonly<Record<string, Rule>>;
  readonly prefetch?: RateLimiterOptions['prefetch'];
}

const SECOND = 1_000_000;

const sliding = (limit: number, seconds: number): Rule => ({
  limit,
  whole: 1.25 * seconds * SECOND,
  make: ({ slidingWindow }, most) => slidingWindow({ limit: most, window: `${seconds}s`, slots: 4 }),
  judge: (most) => inAnyWindow(most, seconds * SECOND),
});

const byClock = (limit: number): Rule => ({
  limit,
  whole: SECOND,
  make: ({ fixedWindow }, most) => fixedWindow({ limit: most, window: '1s', align: 'clock' }),
  judge: (most) => inClockWindows(most, SECOND),
});

const log: Rule = {
  limit: 4,
  whole: SECOND,
  make: ({ slidingLog }, limit) => slidingLog({ limit, window: '1s' }),
  judge: (limit) => inAnyWindow(limit, SECOND),
};

/** Windows from their first call on: two of them may touch. */
const firstHit: Rule = {
  limit: 3,
  whole: SECOND,
  make: ({ fixedWindow }, limit) => fixedWindow({ limit, window: '1s' }),
  judge: (limit) => inAnyWindow(2 * limit, SECOND),
};

const bucket = (make: Rule['make']): Rule => ({
  limit: 4,
  whole: SECOND,
  make,
  judge: (limit) => inAnySpan(limit, limit, SECOND),
  isBucket: true,
});

const slots: Rule = {
  limit: 2,
  whole: SECOND,
  lease: SECOND,
  make: ({ concurrency }, limit) => concurrency({ limit, lease: '1s' }),
};

const single = (name: string, rule: Rule, options: Partial<Limit> = {}): Limit => ({
  name,
  rules: { [name]: rule },
  ...options,
});

export const LIMITS: readonly Limit[] = [
  single('window', sliding(5, 2)),
  single('log', log),
  single('clock', byClock(4)),
  single('first-hit', firstHit),
  single(
    'bucket',
    bucket(({ tokenBucket }, limit) => tokenBucket({ capacity: limit, refill: limit, every: '1s' })),
  ),
  single(
    'gcra',
    bucket(({ gcra }, limit) => gcra({ limit, period: '1s' })),
  ),
  single(
    'leaky',
    bucket(({ leakyBucket }, limit) => leakyBucket({ capacity: limit, leak: limit, every: '1s' })),
  ),
  single('slots', slots),
  { name: 'both', rules: { few: byClock(3), many: sliding(6, 3) } },
  single('busy', sliding(60, 2), { prefetch: { most: 6, idle: '300ms' } }),
];

/** µs for which a permit of `busy` may lie idle, and the most of them in a process. */
export const [IDLE, MOST_IDLE] = [300_000, 6];

const names = new Map(LIMITS.flatMap(({ name, rules }) => Object.keys(rules).map((rule) => [rule, name])));

/** The limiter of a policy; or the budget, of whose axes they are. */
export const limiterOf = (policy: string): string => names.get(policy) ?? 'budget';
