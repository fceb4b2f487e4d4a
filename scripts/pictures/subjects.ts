import type { Policy } from '@sluice/core';
import { conformances } from '../../tests/support/conformance/all.js';
import type { Picture } from '../../tests/support/conformance/conformance.js';
import {
  type AlgorithmName,
  codeOfOptions,
  create,
  formOf,
  type Options,
  optionsOf,
} from '../../website/playground/policies.js';
import { SECOND, spread } from './offer.js';

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

export interface Subject extends Made, Picture {
  readonly name: AlgorithmName;
  /** Of the calls, µs since the first possible one. */
  readonly moments: readonly number[];
  /** A further setting of the calls, in the words of the plots. */
  readonly note: 'waits' | 'holds' | undefined;
}

const noteOf = ({ waits, holds }: Picture): Subject['note'] =>
  waits ? 'waits' : holds === undefined ? undefined : 'holds';

/** A picture for each algorithm. Its policy is the one that the playground begins with. */
export const subjects: readonly Subject[] = conformances.map(({ name, picture }) => ({
  name,
  moments: traffic,
  ...make(name, optionsOf(formOf(name))),
  ...picture,
  note: noteOf(picture),
}));
