import type { Policy } from '@sluice/core';
import type { MeterLimits } from '@sluice/core/internal';

type Policies = Readonly<Record<string, Policy>>;

/** Has a key numbers of its own? */
export const isOverridden = ({ overrides }: MeterLimits, key: string): boolean =>
  overrides !== undefined && Object.hasOwn(overrides, key);

/** The policies by axis for a key of a plan. A plan that is unknown, or undefined, is the default one. */
export function policiesOf(limits: MeterLimits, plan: string | undefined, key: string): Policies {
  const { axes, plans = {}, overrides } = limits;
  const base = plan !== undefined && Object.hasOwn(plans, plan) ? plans[plan]! : axes;
  if (!isOverridden(limits, key)) return base;
  const own = overrides![key]!;
  const entries = Object.entries(base).map(([axis, policy]) => [axis, { ...policy, ...own[axis] }]);
  return Object.fromEntries(entries) as Policies;
}
