import {
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { type Ideal, idealBatches, idealBucket, idealLog, idealWindows } from './ideal.js';
import { inAnySpan, inAnyWindow, inBatches, inClockWindows, inNamedWindows, type Judge } from './judge.js';

/** A policy, its promise, and what it admits without faults. */
export interface Contest {
  readonly name: string;
  readonly policy: Policy;
  readonly judge: Judge;
  readonly ideal: () => Ideal;
}

const MS = 1000;

/** Every rate algorithm, about 100 permits a second each: fewer than the calls, even on a slow machine. */
export const contests: readonly Contest[] = [
  {
    name: 'fixedWindow, first-hit',
    policy: fixedWindow({ limit: 10, window: '100ms' }),
    judge: inNamedWindows(10, 100 * MS),
    ideal: () => idealWindows(10, 100 * MS, 'first-hit'),
  },
  {
    name: 'fixedWindow, clock',
    policy: fixedWindow({ limit: 10, window: '100ms', align: 'clock' }),
    judge: inClockWindows(10, 100 * MS),
    ideal: () => idealWindows(10, 100 * MS, 'clock'),
  },
  {
    name: 'slidingWindow',
    policy: slidingWindow({ limit: 10, window: '100ms', slots: 50 }),
    judge: inAnyWindow(10, 100 * MS),
    ideal: () => idealLog(10, 100 * MS),
  },
  {
    name: 'slidingLog',
    policy: slidingLog({ limit: 10, window: '100ms' }),
    judge: inAnyWindow(10, 100 * MS),
    ideal: () => idealLog(10, 100 * MS),
  },
  {
    name: 'tokenBucket, continuous',
    policy: tokenBucket({ capacity: 10, refill: 3, every: '31ms' }),
    judge: inAnySpan(10, 3, 31 * MS),
    ideal: () => idealBucket(10, 3, 31 * MS),
  },
  {
    name: 'tokenBucket, interval',
    policy: tokenBucket({ capacity: 10, refill: 5, every: '50ms', mode: 'interval' }),
    judge: inBatches(10, 5, 50 * MS),
    ideal: () => idealBatches(10, 5, 50 * MS),
  },
  {
    name: 'gcra',
    policy: gcra({ limit: 7, period: '73ms', burst: 5 }),
    judge: inAnySpan(5, 7, 73 * MS),
    ideal: () => idealBucket(5, 7, 73 * MS),
  },
  {
    name: 'leakyBucket',
    policy: leakyBucket({ capacity: 6, leak: 5, every: '57ms' }),
    judge: inAnySpan(6, 5, 57 * MS),
    ideal: () => idealBucket(6, 5, 57 * MS),
  },
];
