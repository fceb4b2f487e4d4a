import type { Policy } from '@sluice/core';
import { type EachKind, policyKinds } from '../../packages/core/src/algorithms/index.js';
import type { PolicyKind } from '../../packages/core/src/algorithms/policy-kind.js';

/** An option of a policy. Its name is the option's name in the core. */
export interface Field {
  readonly name: string;
  /** What the field has at first. Empty: the option is left out. */
  readonly value: string;
  /** The words that the option can be; without them it is a number or a duration. */
  readonly choices?: readonly string[];
}

export type AlgorithmName = EachKind['name'];

/** The algorithms by name. */
export const ALGORITHMS = Object.fromEntries(
  (policyKinds as readonly PolicyKind[]).map((kind) => [kind.name, kind]),
) as Readonly<Record<AlgorithmName, PolicyKind>>;

export type Options = Readonly<Record<string, string | number>>;

/** A policy as it is written in the form. */
export interface PolicyForm {
  readonly algorithm: AlgorithmName;
  readonly values: Readonly<Record<string, string>>;
}

export const isAlgorithm = (name: unknown): name is AlgorithmName =>
  typeof name === 'string' && Object.hasOwn(ALGORITHMS, name);

export const fieldsOf = (algorithm: AlgorithmName): readonly Field[] =>
  Object.entries(ALGORITHMS[algorithm].options).flatMap(([name, option]) => {
    if (option.sample === undefined) return [];
    return [{ name, value: option.sample, ...(option.type === 'word' && { choices: option.words }) }];
  });

export const formOf = (algorithm: AlgorithmName): PolicyForm => ({
  algorithm,
  values: Object.fromEntries(fieldsOf(algorithm).map(({ name, value }) => [name, value])),
});

/** The options that the form gives: a text that is a number becomes a number, any other text stays text. */
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
