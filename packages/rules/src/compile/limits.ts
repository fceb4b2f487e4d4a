import {
  concurrency,
  fixedWindow,
  gcra,
  type LimiterPolicies,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';
import type { Path } from '../document/problems.js';
import type { LimitInput, RuleInput } from '../document/schema.js';
import type { PlanNumbers } from './plan-numbers.js';

const FACTORIES = { fixedWindow, slidingWindow, slidingLog, tokenBucket, gcra, leakyBucket, concurrency };
type AlgorithmName = keyof typeof FACTORIES;
const ALGORITHMS = Object.keys(FACTORIES) as AlgorithmName[];

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
function compileLimit(input: LimitInput, numbers: PlanNumbers, path: Path): Policy | undefined {
  const given = ALGORITHMS.filter((name) => input[name] !== undefined);
  const [algorithm, another] = given;
  if (algorithm === undefined || another !== undefined) {
    const which = algorithm === undefined ? 'has no algorithm' : `has ${given.join(' and ')}`;
    numbers.tell(path, `a limit ${which}; it needs one of ${ALGORITHMS.join(', ')}`);
    return undefined;
  }
  const at = [...path, algorithm];
  const options = numbers.readAll(input[algorithm] as object, at);
  if (options === undefined) return undefined;
  try {
    return FACTORIES[algorithm](options as never);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    const option = /^\w+: (\w+)/.exec(error.message)?.[1];
    const known = option !== undefined && Object.hasOwn(options, option);
    numbers.tell(known ? [...at, option] : at, `${error.message}${numbers.suffix(input[algorithm])}`);
    return undefined;
  }
}
