import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';
import { type Offer, SECOND, spread } from './offer.js';

/** A policy, and its code for readers. */
export interface Made {
  readonly code: string;
  readonly policy: Policy;
}

const factories = { fixedWindow, slidingWindow, slidingLog, tokenBucket, gcra, leakyBucket, concurrency };
type Factory = keyof typeof factories;

/** Calls a factory and records the call, so that the shown code is the code that ran. */
export function make(factory: Factory, options: Readonly<Record<string, string | number>>): Made {
  const values = Object.entries(options).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  const create = factories[factory] as (options: unknown) => Policy;
  return { code: `${factory}({ ${values.join(', ')} })`, policy: create(options) };
}

/** The end of the pictures: no call is waiting any more. */
export const LENGTH = 44 * SECOND;
/** The window of "busiest": one window of the policies below. */
export const WINDOW = 10 * SECOND;

/**
 * The same calls for all: one call that opens a window, a burst on each side of that window's end, a steady phase at twice the rate, a
 * pause, a last burst.
 */
export const traffic: readonly number[] = [
  0,
  ...spread(9 * SECOND, 2 * SECOND, 20),
  ...spread(13 * SECOND, 10 * SECOND, 20),
  ...spread(31 * SECOND, 1.5 * SECOND, 15),
];

export interface Subject extends Made, Omit<Offer, 'policy'> {
  readonly name: Factory;
  /** Further settings of the calls. */
  readonly note: string;
  /** The most calls that can have passed `elapsed` µs after the first. */
  readonly promise: (elapsed: number) => number;
  /** Step of the bound, µs. 0: it rises steadily. */
  readonly step: number;
}

const windows = (elapsed: number): number => 10 * (Math.floor(elapsed / WINDOW) + 1);
const steady = (burst: number) => (elapsed: number) => burst + elapsed / SECOND;

const subject = (
  name: Factory,
  options: Readonly<Record<string, string | number>>,
  rest: Pick<Subject, 'promise' | 'step'> & Partial<Subject>,
): Subject => ({ name, note: '', moments: traffic, ...make(name, options), ...rest });

/** One picture each, all with ten permits in ten seconds. */
export const subjects: readonly Subject[] = [
  subject('fixedWindow', { limit: 10, window: '10s' }, { promise: windows, step: WINDOW }),
  subject('slidingWindow', { limit: 10, window: '10s', slots: 5 }, { promise: windows, step: WINDOW }),
  subject('slidingLog', { limit: 10, window: '10s' }, { promise: windows, step: WINDOW }),
  subject('tokenBucket', { capacity: 10, refill: 10, every: '10s' }, { promise: steady(10), step: 0 }),
  subject('gcra', { limit: 10, period: '10s', burst: 3 }, { promise: steady(3), step: 0 }),
  subject(
    'leakyBucket',
    { capacity: 10, leak: 10, every: '10s' },
    { promise: steady(1), step: 0, waits: true, note: 'calls wait (acquire)' },
  ),
  subject(
    'concurrency',
    { limit: 2 },
    {
      promise: (elapsed) => 2 * (Math.floor(elapsed / (2 * SECOND)) + 1),
      step: 2 * SECOND,
      holds: 2 * SECOND,
      note: 'each call takes 2 s',
    },
  ),
];
