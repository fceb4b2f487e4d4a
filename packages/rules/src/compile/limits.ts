import type { LimiterPolicies, Policy } from '@sluice/core';
import { type PolicyKind, policyKinds } from '@sluice/core/internal';
import type { Path } from '../document/problems.js';
import type { LimitInput, RuleInput } from '../document/schema.js';
import type { PlanNumbers } from './plan-numbers.js';

const KINDS: readonly PolicyKind[] = policyKinds;

/** The policies of a rule for one plan. */
export function compileLimits(
  rule: Pick<RuleInput, 'limit' | 'limits'>,
  numbers: PlanNumbers,
  path: Path,
): LimiterPolicies | undefined {
  if (rule.limit !== undefined) return compileLimit(rule.limit, numbers, [...path, 'limit']);
  return Object.fromEntries(
    Object.entries(rule.limits ?? {}).map(([limit, input]) => [
      limit,
      compileLimit(input, numbers, [...path, 'limits', limit]),
    ]),
  ) as never; // the missing field is reported
}

/** @returns undefined for an invalid policy */
export function compileLimit(input: LimitInput, numbers: PlanNumbers, path: Path): Policy | undefined {
  const written: Readonly<Record<string, unknown>> = input;
  const given = KINDS.filter(({ name }) => written[name] !== undefined);
  const [kind, another] = given;
  if (kind === undefined || another !== undefined) {
    const which = kind === undefined ? 'has no algorithm' : `has ${namesOf(given).join(' and ')}`;
    numbers.tell(path, `a limit ${which}; it needs one of ${namesOf(KINDS).join(', ')}`);
    return undefined;
  }
  const at = [...path, kind.name];
  const options = numbers.readAll(written[kind.name] as object, at);
  if (options === undefined) return undefined;
  try {
    return kind.create(options as never);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    const option = /^\w+: (\w+)/.exec(error.message)?.[1];
    const known = option !== undefined && Object.hasOwn(options, option);
    numbers.tell(known ? [...at, option] : at, `${error.message}${numbers.suffix(written[kind.name])}`);
    return undefined;
  }
}

const namesOf = (kinds: readonly PolicyKind[]): readonly string[] => kinds.map(({ name }) => name);
