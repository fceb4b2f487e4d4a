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

/** An option of a policy. Its name is the option's name in the core. */
export interface Field {
  readonly name: string;
  /** What the field has at first. Empty: the option is left out. */
  readonly value: string;
  /** The words that the option can be; without them it is a number or a duration. */
  readonly choices?: readonly string[];
}

interface Kind {
  /** The folder of the algorithm, and its page. */
  readonly page: string;
  readonly create: (options: never) => Policy;
  readonly fields: readonly Field[];
}

const option = (name: string, value = '', choices?: readonly string[]): Field => ({
  name,
  value,
  ...(choices && { choices }),
});

/** The algorithms, all with ten permits in ten seconds at first. */
export const ALGORITHMS = {
  tokenBucket: {
    page: 'token-bucket',
    create: tokenBucket,
    fields: [
      option('capacity', '10'),
      option('refill', '1'),
      option('every', '1s'),
      option('mode', '', ['continuous', 'interval']),
      option('initial'),
      option('borrow'),
    ],
  },
  gcra: {
    page: 'gcra',
    create: gcra,
    fields: [option('limit', '10'), option('period', '10s'), option('burst', '3')],
  },
  leakyBucket: {
    page: 'leaky-bucket',
    create: leakyBucket,
    fields: [option('capacity', '10'), option('leak', '1'), option('every', '1s')],
  },
  fixedWindow: {
    page: 'fixed-window',
    create: fixedWindow,
    fields: [option('limit', '10'), option('window', '10s'), option('align', '', ['first-hit', 'clock'])],
  },
  slidingWindow: {
    page: 'sliding-window',
    create: slidingWindow,
    fields: [option('limit', '10'), option('window', '10s'), option('slots', '5')],
  },
  slidingLog: {
    page: 'sliding-log',
    create: slidingLog,
    fields: [option('limit', '10'), option('window', '10s')],
  },
  concurrency: {
    page: 'concurrency',
    create: concurrency,
    fields: [option('limit', '2'), option('lease', '30s'), option('queue')],
  },
} satisfies Record<string, Kind>;

export type AlgorithmName = keyof typeof ALGORITHMS;

export type Options = Readonly<Record<string, string | number>>;

/** A policy as it is written in the form. */
export interface PolicyForm {
  readonly algorithm: AlgorithmName;
  readonly values: Readonly<Record<string, string>>;
}

export const isAlgorithm = (name: unknown): name is AlgorithmName =>
  typeof name === 'string' && Object.hasOwn(ALGORITHMS, name);

export const fieldsOf = (algorithm: AlgorithmName): readonly Field[] => ALGORITHMS[algorithm].fields;

export const formOf = (algorithm: AlgorithmName): PolicyForm => ({
  algorithm,
  values: Object.fromEntries(fieldsOf(algorithm).map(({ name, value }) => [name, value])),
});

/** The options that the form gives: what is a number as a number, any other text as it is. */
export function optionsOf({ algorithm, values }: PolicyForm): Options {
  const given = fieldsOf(algorithm).map(({ name }) => [name, (values[name] ?? '').trim()] as const);
  return Object.fromEntries(
    given
      .filter(([, text]) => text !== '')
      .map(([name, text]) => [name, Number.isNaN(Number(text)) ? text : Number(text)]),
  );
}

/** @throws RangeError, TypeError of the core when a value is not acceptable */
export const policyOf = (form: PolicyForm): Policy => create(form.algorithm, optionsOf(form));

/** The code that makes the policy. */
export const codeOf = (form: PolicyForm): string => codeOfOptions(form.algorithm, optionsOf(form));

export const create = (algorithm: AlgorithmName, options: Options): Policy =>
  (ALGORITHMS[algorithm].create as (options: unknown) => Policy)(options);

export function codeOfOptions(algorithm: AlgorithmName, options: Options): string {
  const values = Object.entries(options).map(
    ([name, value]) => `${name}: ${typeof value === 'number' ? value : `'${value}'`}`,
  );
  return `${algorithm}({ ${values.join(', ')} })`;
}
