import { warnOnce } from '@sluice/core/internal';
import type { Amounts } from './amounts.js';
import type { Hold } from './hold.js';

/**
 * Settles by the first of these ways that gives amounts. If none does, it counts what was held.
 * @throws the error of a way before it, after it has settled
 */
export async function settleFirst<Axes extends string>(
  hold: Hold<Axes>,
  ways: readonly (() => Amounts<Axes> | undefined)[],
): Promise<void> {
  const errors: unknown[] = [];
  const held = () => ({}) as Amounts<Axes>;
  for (const way of [...ways, held]) {
    let settled: Promise<unknown>;
    try {
      const used = way();
      if (used === undefined) continue;
      settled = hold.endWith(used);
    } catch (error) {
      errors.push(error);
      continue;
    }
    await settled;
    break;
  }
  if (errors.length > 0) throw errors[0];
}

/** Ends the hold of a call that has failed. The caller gets the error of the call, so a failure to settle becomes a warning. */
export async function settleFailed(hold: Hold<string>, settled: Promise<unknown>): Promise<void> {
  try {
    await settled;
  } catch (error) {
    warnOnce(
      'SLUICE_REFUND_LOST',
      hold.meter,
      `A call that budget '${hold.meter}' pays for has failed, and its use was not settled: ${String(error)}`,
    );
  }
}

/** Settles after `work`, also if that fails: then its error rejects. */
export async function settleAfter(
  hold: Hold<string>,
  work: () => Promise<unknown>,
  settle: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    await settleFailed(hold, settle());
    throw error;
  }
  await settle();
}
