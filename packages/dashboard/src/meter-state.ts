import type { Store } from '@sluice/core';
import type { LimiterDefinition } from '@sluice/core/internal';
import { inspectMeter } from '@sluice/meter/internal';
import type { AxisState, MeterState } from './messages.js';

/**
 * What the scopes that a key may mean have of each axis.
 * @returns also a text that stays equal while only the time changes
 * @throws as `inspectMeter` does
 */
export async function meterState(
  store: Store,
  definition: LimiterDefinition,
  key: string,
): Promise<readonly [MeterState, string]> {
  const scopes = await inspectMeter(store, definition, key);
  const now = Math.max(...scopes.map((scope) => scope.now));
  const axes = scopes.flatMap((scope) =>
    scope.axes.map(
      ({ axis, isSoft, limit, used, held, left, wait, blockedUntil, overrideUntil = 0 }): AxisState => ({
        ...{ axis, scope: scope.scope, isSoft, limit, spent: used, held, left },
        ...{ freesAt: wait === undefined ? null : scope.now + wait, blockedUntil, overrideUntil },
      }),
    ),
  );
  const same = axes.map(({ freesAt, ...axis }) => ({ ...axis, frees: freesAt === null || freesAt <= now }));
  return [{ now, axes }, JSON.stringify(same)];
}
