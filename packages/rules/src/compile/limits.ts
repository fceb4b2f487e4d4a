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
import { nearest, type Path, type Report } from '../document/problems.js';
import type { LimitInput, RuleInput, RulesDocument } from '../document/schema.js';
import { PLAN_NUMBER } from '../document/schema-parts.js';

const FACTORIES = { fixedWindow, slidingWindow, slidingLog, tokenBucket, gcra, leakyBucket, concurrency };
type AlgorithmName = keyof typeof FACTORIES;
const ALGORITHMS = Object.keys(FACTORIES) as AlgorithmName[];

type Plan = NonNullable<RulesDocument['plans']>[string];

/** The policies of a rule, for each plan; those of a rule without `$plan` are the same for all, under `undefined`. */
export type PoliciesByPlan = ReadonlyMap<string | undefined, LimiterPolicies>;

/** Does a rule take numbers from plans? */
export const usesPlans = ({ limit, limits }: Pick<RuleInput, 'limit' | 'limits'>): boolean =>
  [limit, ...Object.values(limits ?? {})].some((one) =>
    Object.values(one ?? {}).some((options) => Object.values(Object(options)).some(isPlanNumber)),
  );

const isPlanNumber = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('$plan.');

/** Compiles the limits of a rule for each plan that it can have. */
export function compileLimits(
  rule: Pick<RuleInput, 'limit' | 'limits'>,
  plans: RulesDocument['plans'],
  path: Path,
  report: Report,
): PoliciesByPlan {
  const names = usesPlans(rule) ? Object.keys(plans ?? {}) : [undefined];
  const made = new Map<string | undefined, LimiterPolicies>();
  const told = new Set<string>();
  for (const name of names) {
    const compile = new LimitCompiler(name, name === undefined ? {} : plans![name]!, report, told);
    const policies =
      rule.limit === undefined
        ? Object.entries(rule.limits ?? {}).map(
            ([limit, input]) => [limit, compile.limit(input, [...path, 'limits', limit])] as const,
          )
        : compile.limit(rule.limit, [...path, 'limit']);
    if (policies !== undefined)
      made.set(name, Array.isArray(policies) ? (Object.fromEntries(policies) as never) : policies);
  }
  return made;
}

class LimitCompiler {
  constructor(
    private readonly planName: string | undefined,
    private readonly plan: Plan,
    private readonly report: Report,
    /** Problems that were reported for another plan. */
    private readonly told: Set<string>,
  ) {}

  /** @returns undefined if it is not acceptable */
  limit(input: LimitInput, path: Path): Policy | undefined {
    const given = ALGORITHMS.filter((name) => input[name] !== undefined);
    const [algorithm, another] = given;
    if (algorithm === undefined || another !== undefined) {
      const which = algorithm === undefined ? 'has no algorithm' : `has ${given.join(' and ')}`;
      this.#tell(path, `a limit ${which}; it needs one of ${ALGORITHMS.join(', ')}`);
      return undefined;
    }
    const at = [...path, algorithm];
    const options = this.#resolved(input[algorithm] as Record<string, unknown>, at);
    if (options === undefined) return undefined;
    try {
      return FACTORIES[algorithm](options as never);
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
      const option = /^\w+: (\w+)/.exec(error.message)?.[1];
      const known = option !== undefined && Object.hasOwn(options, option);
      const planned = Object.values(input[algorithm] as object).some(isPlanNumber);
      const suffix = planned && this.planName !== undefined ? ` (plan '${this.planName}')` : '';
      this.#tell(known ? [...at, option] : at, `${error.message}${suffix}`);
      return undefined;
    }
  }

  /** The options, with the numbers of the plan. */
  #resolved(options: Record<string, unknown>, path: Path): Record<string, unknown> | undefined {
    let complete = true;
    const resolved = Object.fromEntries(
      Object.entries(options).map(([option, value]) => {
        if (!isPlanNumber(value)) return [option, value];
        const name = PLAN_NUMBER.exec(value)?.[1];
        if (name !== undefined && Object.hasOwn(this.plan, name)) return [option, this.plan[name]];
        complete = false;
        this.#tell([...path, option], `plan '${this.planName}' has no number '${name ?? value}'`, {
          hint: name === undefined ? undefined : nearest(name, Object.keys(this.plan)),
        });
        return [option, undefined];
      }),
    );
    return complete ? resolved : undefined;
  }

  #tell(path: Path, message: string, options: { hint?: string | undefined } = {}): void {
    const id = `${path.join('\0')}\0${message}`;
    if (this.told.has(id)) return;
    this.told.add(id);
    this.report.add(path, message, options);
  }
}
