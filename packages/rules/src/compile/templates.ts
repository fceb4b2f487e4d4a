import { isKeyResolutionError, KeyResolutionError } from '@sluice/core';
import {
  compileClientKey,
  compileKey,
  compileKeyList,
  describe,
  isKeyList,
  isKeyWord,
  KeyListError,
  type KeyScope,
  keyText,
  nearest,
} from '@sluice/core/internal';
import { keyOfRequest, parsedBody, REQUEST_FIELDS, type RequestView, requestField } from '@sluice/http';
import type { Path, Report } from '../document/problems.js';
import { isPlanNumber, type PlanNumbers } from './plan-numbers.js';

/** Reads a value of a call: of a request, or of the values that code passes by the names of a template. */
export type ReadScope<T> = (scope: KeyScope) => T;

/** The context in which the templates of one rule are compiled. */
export interface TemplatePlace {
  readonly path: Path;
  readonly report: Report;
  /** A rule for code only: its templates can begin with any name. */
  readonly isForCode: boolean;
}

/** `IP`, `USER`, `METHOD`, a template, or a list of them. */
export function compileRuleKey(
  key: string | readonly string[],
  ipv6Subnet: number | undefined,
  { path, report, isForCode, field = 'key' }: TemplatePlace & { readonly field?: string },
): (request: RequestView) => string {
  const subnet = ipv6Subnet === undefined ? {} : { ipv6Subnet };
  const at = [...path, field];
  const isWord = isKeyWord(key);
  if (!isWord && !isKeyList(key) && isKeyWord(key.toUpperCase())) {
    report.add(at, `${field} '${key}' is not a template`, { hint: key.toUpperCase() });
    return () => key; // the rule is not created
  }
  if (isForCode && !isWord) {
    tried(at, report, () => (isKeyList(key) ? compileKeyList(field, key) : compileKey(key)));
    return () => keyText(key); // the rule applies to no request
  }
  const keyOf = tried(at, report, () =>
    keyOfRequest<[]>(field, isWord ? { limitType: key, ...subnet } : { key, ...subnet }),
  );
  // Without functions in its options it returns no promise.
  return (request) => keyOf?.(request, []) as string;
}

/** A fixed word, or a template. */
export const hasTemplate = (text: string): boolean => /#[{<]/.test(text);

/** @returns the text, or undefined if the call lacks the value; of a cost that is no text an empty one */
export function compileText(
  template: string,
  field: 'plan' | 'cost',
  { path, report, isForCode }: TemplatePlace,
): ReadScope<string | undefined> {
  const at = [...path, field];
  const compiled = tried(at, report, () => compileKey(template));
  const unknown = compiled?.roots.find((root) => !REQUEST_FIELDS.some((name) => name === root));
  if (!isForCode && unknown !== undefined) {
    report.add(
      at,
      `${field} uses '${unknown}', which requests do not have: begin with ${REQUEST_FIELDS.join(', ')}`,
      {
        hint: nearest(unknown, REQUEST_FIELDS),
      },
    );
  }
  return (scope) => {
    try {
      return compiled?.resolve(scope);
    } catch (error) {
      // Status 500: the setup is wrong, not the call. For example, the method runs outside a request context.
      if (!isKeyResolutionError(error) || error.status === 500) throw error;
      // A list or an object is no whole number: with ?n=3&n=4 a call would cost as much as without n.
      return field === 'cost' && compiled!.isPresent(scope) ? '' : undefined;
    }
  };
}

/** Permits of the calls of a rule. */
export interface RuleCost {
  /** @throws KeyResolutionError if the call has no whole number */
  readonly of: ReadScope<number>;
  /** The cost of every call with a plan. Undefined if the cost depends on the call. */
  fixed(plan: string | undefined): number | undefined;
}

const fixedCost = (cost: number): RuleCost => ({ of: () => cost, fixed: () => cost });

/**
 * A whole number, a number of a plan, or a template for one. The cost is 1 if the call has none.
 * @param plans the plans that the rule can have
 * @param planOf returns the plan of a call
 */
export function compileCost(
  cost: number | string | undefined,
  plans: readonly PlanNumbers[],
  place: TemplatePlace,
  planOf: ReadScope<string | undefined>,
): RuleCost {
  if (cost === undefined) return fixedCost(1);
  if (isPlanNumber(cost)) {
    const costs = new Map(plans.map((plan) => [plan.name, costOfPlan(cost, plan, place)]));
    return { of: (scope) => costs.get(planOf(scope))!, fixed: (plan) => costs.get(plan) };
  }
  if (typeof cost === 'number') {
    if (!isCost(cost)) place.report.add([...place.path, 'cost'], noCost(cost));
    return fixedCost(cost);
  }
  const read = compileText(cost, 'cost', place);
  const of = (scope: KeyScope): number => {
    const text = read(scope);
    if (text === undefined) return 1;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    const name = cost.replace(/^#[{<]|[}>]$/g, ''); // clients may see the message
    throw new KeyResolutionError(`The request needs a whole number at ${name}`, cost);
  };
  return { of, fixed: () => undefined };
}

function costOfPlan(cost: string, plan: PlanNumbers, { path }: TemplatePlace): number | undefined {
  const at = [...path, 'cost'];
  const number = plan.read(cost, at);
  if (number === undefined || isCost(number)) return number;
  plan.tell(at, `${noCost(number)}${plan.suffix(cost)}`);
  return undefined;
}

const isCost = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const noCost = (value: unknown): string =>
  `cost must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, not ${describe(value)}`;

const clientKey = compileClientKey({});

/** The names that templates can use for a request. */
export const scopeOf =
  (request: RequestView): KeyScope =>
  (root) => {
    if (root === 'ip') return clientKey(request);
    return root === 'body' ? parsedBody(request) : requestField(request, root);
  };

/** Reports the error that `compile` throws for an invalid template. */
function tried<T>(path: Path, report: Report, compile: () => T): T | undefined {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    const unknown = /uses '(.+?)', which requests/.exec(error.message)?.[1];
    const at = error instanceof KeyListError && error.index !== undefined ? [...path, error.index] : path;
    report.add(at, error.message.replace(/^key: key: /, 'key: '), {
      hint: unknown && nearest(unknown, REQUEST_FIELDS),
    });
    return undefined;
  }
}
