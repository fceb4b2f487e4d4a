import type { Policy } from '@sluice/core';
import { compilePolicy, type MeterLimits, nearest } from '@sluice/core/internal';
import type { Path, Report } from '../document/problems.js';
import type { RulesDocument } from '../document/schema.js';
import type { MeterInput } from '../document/schema-meter.js';
import { compileLimit } from './limits.js';
import { PlanNumbers, usesPlans } from './plan-numbers.js';

/** Each hold reads two keys for each axis. */
const MOST_AXES = 20;
const MOST_OVERRIDES = 1000;

type Policies = Readonly<Record<string, Policy>>;

/**
 * Compiles the meters of a document, and reports what the schema cannot say.
 * @param document can have problems, which are in `report`: parts with problems are omitted
 */
export function compileMeters(document: RulesDocument, report: Report): ReadonlyMap<string, MeterLimits> {
  const meters =
    report.isClean(['meter']) || isObject(document.meter) ? Object.entries(document.meter ?? {}) : [];
  const given = meters.filter(([, input]) => isObject(input) && isObject(input.axes));
  return new Map(
    given.map(([name, input]) => [name, new MeterCompiler(name, input, document, report).limits()]),
  );
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

class MeterCompiler {
  readonly #path: Path;

  constructor(
    readonly name: string,
    readonly input: MeterInput,
    readonly document: RulesDocument,
    readonly report: Report,
  ) {
    this.#path = ['meter', name];
  }

  limits(): MeterLimits {
    const { input, name } = this;
    const axes = Object.keys(input.axes);
    if (axes.length === 0 || axes.length > MOST_AXES)
      this.report.add([...this.#path, 'axes'], `meter '${name}' needs 1 to ${MOST_AXES} axes`);
    this.#checkSoft(axes);
    const plans = this.#plans();
    const [first = {}] = plans.values();
    const overrides = this.#overrides(axes, plans);
    return {
      axes: first,
      soft: input.soft ?? [],
      plans: plans.has(undefined) ? undefined : Object.fromEntries(plans as Map<string, Policies>),
      overrides,
    };
  }

  /** The policies by plan, first the default one. The key is undefined if they take no numbers from plans. */
  #plans(): ReadonlyMap<string | undefined, Policies> {
    const { input, document, report } = this;
    const { defaultPlan } = document;
    const clean = Object.entries(input.axes).filter(([axis]) =>
      report.isClean([...this.#path, 'axes', axis]),
    );
    const limits = Object.fromEntries(clean);
    const plans = PlanNumbers.of({ limits }, report.isClean(['plans']) ? document.plans : undefined, report);
    if (usesPlans({ limits }) && report.isClean(['plans'])) this.#checkPlans(plans.length);
    const compiled = plans.map((plan): [string | undefined, Policies] => [
      plan.name,
      this.#axesOf(limits, plan),
    ]);
    const isDefault = ([plan]: [string | undefined, Policies]) => Number(plan === defaultPlan);
    return new Map(compiled.sort((one, other) => isDefault(other) - isDefault(one)));
  }

  #axesOf(limits: MeterInput['axes'], plan: PlanNumbers): Policies {
    const policies = Object.entries(limits).flatMap(([axis, limit]) => {
      const policy = compileLimit(limit, plan, [...this.#path, 'axes', axis]);
      return policy === undefined ? [] : [[axis, policy] as const];
    });
    return Object.fromEntries(policies);
  }

  #checkPlans(count: number): void {
    const { name, report, document } = this;
    if (count === 0) report.add(this.#path, `meter '${name}' uses $plan, and the document has no plans`);
    else if (document.defaultPlan === undefined)
      report.add(
        this.#path,
        `meter '${name}' uses $plan: add a defaultPlan to the document, for scopes without a plan or with an unknown one`,
      );
  }

  #checkSoft(axes: readonly string[]): void {
    const path = [...this.#path, 'soft'];
    if (!Array.isArray(this.input.soft)) return;
    this.input.soft.forEach((axis, i) => {
      if (typeof axis === 'string') this.#checkAxis(axes, axis, [...path, i]);
    });
  }

  #checkAxis(axes: readonly string[], axis: string, path: Path, atKey = false): boolean {
    if (axes.includes(axis)) return true;
    this.report.add(path, `meter '${this.name}' has no axis '${axis}'`, { hint: nearest(axis, axes), atKey });
    return false;
  }

  #overrides(
    axes: readonly string[],
    plans: ReadonlyMap<string | undefined, Policies>,
  ): MeterLimits['overrides'] {
    const { overrides } = this.input;
    const path = [...this.#path, 'overrides'];
    if (!isObject(overrides) || !this.report.isClean(path)) return undefined;
    const keys = Object.entries(overrides);
    if (keys.length > MOST_OVERRIDES)
      this.report.add(path, `meter '${this.name}' has at most ${MOST_OVERRIDES} overrides`);
    for (const [key, own] of keys) {
      for (const [axis, numbers] of Object.entries(own)) {
        const at = [...path, key, axis];
        if (!this.#checkAxis(axes, axis, at, true)) continue;
        for (const policies of plans.values())
          if (policies[axis] !== undefined) this.#checkNumbers(policies[axis], numbers, at);
      }
    }
    return overrides;
  }

  #checkNumbers(policy: Policy, numbers: Readonly<Record<string, unknown>>, path: Path): void {
    const { algorithm, ...options } = policy;
    const known = Object.keys(options);
    const wrong = Object.keys(numbers).filter((option) => !known.includes(option));
    for (const option of wrong)
      this.report.add([...path, option], `${algorithm} has no '${option}' here: ${known.join(', ')}`, {
        hint: nearest(option, known),
        atKey: true,
      });
    if (wrong.length > 0) return;
    try {
      compilePolicy({ ...policy, ...numbers } as Policy);
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
      this.report.add(path, error.message);
    }
  }
}
