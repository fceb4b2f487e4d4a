import { nearest } from '@sluice/core/internal';
import type { Path, Report } from '../document/problems.js';
import type { RuleInput, RulesDocument } from '../document/schema.js';
import { PLAN_NUMBER } from '../document/schema-parts.js';

type RuleNumbers = Pick<RuleInput, 'limit' | 'limits' | 'cost' | 'escalate'>;

export const isPlanNumber = (value: unknown): value is `$plan.${string}` =>
  typeof value === 'string' && value.startsWith('$plan.');

/** Does a rule take numbers from plans? */
export const usesPlans = ({ limit, limits, cost, escalate }: RuleNumbers): boolean =>
  isPlanNumber(cost) ||
  haveOne(escalate) ||
  [limit, ...Object.values(limits ?? {})].some((one) => Object.values(one ?? {}).some(haveOne));

const haveOne = (options: unknown): boolean => Object.values(Object(options)).flat().some(isPlanNumber);

/** The numbers of one plan, in place of `$plan.name`. */
export class PlanNumbers {
  /** How many of the numbers that were read are missing in the plan. */
  #missing = 0;

  constructor(
    /** The plan. Undefined for a rule that takes no numbers from plans. */
    readonly name: string | undefined,
    private readonly plan: NonNullable<RulesDocument['plans']>[string],
    private readonly report: Report,
    /** Problems that were reported for another plan. */
    private readonly reported: Set<string>,
  ) {}

  /** The numbers of each plan that a rule can have. */
  static of(rule: RuleNumbers, plans: RulesDocument['plans'], report: Report): readonly PlanNumbers[] {
    const reported = new Set<string>();
    if (!usesPlans(rule)) return [new PlanNumbers(undefined, {}, report, reported)];
    return Object.entries(plans ?? {}).map(([name, plan]) => new PlanNumbers(name, plan, report, reported));
  }

  /** The value itself, or the plan's number. Reports a number that the plan does not have, and returns undefined. */
  read(value: unknown, path: Path): unknown {
    if (Array.isArray(value)) return value.map((one, i) => this.read(one, [...path, i]));
    if (!isPlanNumber(value)) return value;
    const number = PLAN_NUMBER.exec(value)?.[1];
    if (number !== undefined && Object.hasOwn(this.plan, number)) return this.plan[number];
    this.#missing += 1;
    this.tell(path, `plan '${this.name}' has no number '${number ?? value}'`, {
      hint: number === undefined ? undefined : nearest(number, Object.keys(this.plan)),
    });
    return undefined;
  }

  /** Reads all values of an object; undefined if the plan lacks one. */
  readAll(values: object, path: Path): Record<string, unknown> | undefined {
    const before = this.#missing;
    const read = Object.entries(values).map(([field, value]) => [field, this.read(value, [...path, field])]);
    return this.#missing === before ? Object.fromEntries(read) : undefined;
  }

  /** For the message of an invalid value. @param given the value in the document */
  suffix(given: unknown): string {
    return (haveOne(given) || isPlanNumber(given)) && this.name !== undefined ? ` (plan '${this.name}')` : '';
  }

  /** Reports a problem, once for all plans. */
  tell(path: Path, message: string, options: { hint?: string | undefined; atKey?: boolean } = {}): void {
    const id = `${path.join('\0')}\0${message}`;
    if (this.reported.has(id)) return;
    this.reported.add(id);
    this.report.add(path, message, options);
  }
}
