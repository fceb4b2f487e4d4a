import { checkInteger, checkOptions } from '@sluice/core/internal';

/** Whole numbers by the names of axes: tokens, calls, or millionths of a dollar. */
export type Amounts<Axes extends string = string> = Readonly<Partial<Record<Axes, number>>>;

/** The same, checked. */
export type WholeAmounts = Readonly<Record<string, number>>;

/** Up to here sums of many amounts stay exact. */
const MOST = 1e15;

/**
 * @throws TypeError for an axis that the meter does not have; RangeError for an amount that is not a whole number from 0 to 10^15
 */
export function checkAmounts(where: string, amounts: unknown, axes: readonly string[]): WholeAmounts {
  checkOptions(where, amounts, axes);
  const checked: Record<string, number> = {};
  for (const [axis, amount] of Object.entries(amounts as Record<string, unknown>)) {
    if (amount !== undefined) checked[axis] = checkInteger(`${where}: ${axis}`, amount, 0, MOST);
  }
  return checked;
}
