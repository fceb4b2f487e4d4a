import type { Policy } from '@sluice/core';
import {
  type AlgorithmName,
  codeOfOptions,
  create,
  formOf,
  type Options,
  optionsOf,
} from '../../website/playground/policies.js';
import { type Offer, SECOND, spread } from './offer.js';

/** A policy, and its code for readers. */
export interface Made {
  readonly code: string;
  readonly policy: Policy;
}

/** Makes a policy, so that the shown code is the code that ran. */
export const make = (algorithm: AlgorithmName, options: Options): Made => ({
  code: codeOfOptions(algorithm, options),
  policy: create(algorithm, options),
});

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
  readonly name: AlgorithmName;
  /** A further setting of the calls, in the words of the plots. */
  readonly note?: 'waits' | 'holds';
  /** The most calls that can have passed `elapsed` µs after the first. */
  readonly promise: (elapsed: number) => number;
  /** Step of the bound, µs. 0: it rises steadily. */
  readonly step: number;
}

const windows = (elapsed: number): number => 10 * (Math.floor(elapsed / WINDOW) + 1);
const steady = (burst: number) => (elapsed: number) => burst + elapsed / SECOND;

/** The policy is the one that the playground begins with. */
const subject = (
  name: AlgorithmName,
  promise: Subject['promise'],
  step: number,
  more: Partial<Subject> = {},
): Subject => ({
  ...{ name, moments: traffic, promise, step },
  ...make(name, optionsOf(formOf(name))),
  ...more,
});

/** One picture each, all but the last with ten permits in ten seconds. */
export const subjects: readonly Subject[] = [
  subject('fixedWindow', windows, WINDOW),
  subject('slidingWindow', windows, WINDOW),
  subject('slidingLog', windows, WINDOW),
  subject('tokenBucket', steady(10), 0),
  subject('gcra', steady(3), 0),
  subject('leakyBucket', steady(1), 0, { waits: true, note: 'waits' }),
  subject('concurrency', (elapsed) => 2 * (Math.floor(elapsed / (2 * SECOND)) + 1), 2 * SECOND, {
    holds: 2 * SECOND,
    note: 'holds',
  }),
];
