import type { UsageKeys, UsageOptions } from '@sluice/core';
import { checkBoolean, checkOptions, describe } from '@sluice/core/internal';

/** @throws TypeError */
export function checkUsage(
  where: string,
  usage: true | UsageOptions,
): { readonly keys: UsageKeys; readonly keyUse: boolean } {
  if (usage === true) return { keys: 'hash', keyUse: false };
  if (typeof usage !== 'object' || usage === null) {
    throw new TypeError(
      `${where}: usage must be true, false or an object such as { keys: 'plain' }, not ${describe(usage)}`,
    );
  }
  checkOptions(`${where}: usage`, usage, ['keys', 'keyUse']);
  const { keys = 'hash', keyUse = false } = usage;
  checkBoolean(`${where}: usage.keyUse`, keyUse);
  if (keys === 'hash' || keys === 'plain') return { keys, keyUse };
  throw new TypeError(
    `${where}: usage.keys must be 'hash', or 'plain' to show keys as they are stored, not ${describe(keys)}`,
  );
}
