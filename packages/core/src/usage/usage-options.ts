import { checkOptions, describe } from '../options.js';

/** How keys are shown: as stored, or as a `hashKey`. */
export type UsageKeys = 'hash' | 'plain';

/** The option `usage` of a store, in place of `true`. */
export interface UsageOptions {
  /**
   * How keys leave the counts, and how `sluice tail` and the live page show them. `'hash'`: as `#` and 16 characters of their SHA-256, which
   * `hashKey` computes for a known key. The hash of a phone number is a pseudonym only, because all numbers can be tried. `'plain'`: as
   * stored. Default `'hash'`.
   */
  readonly keys?: UsageKeys | undefined;
  /**
   * Counts also how many keys each limiter decides, and how much of each limit they use: `keyUse` of `readUsage`. Default `false`.
   */
  readonly keyUse?: boolean | undefined;
}

/** @throws TypeError */
export function checkUsage(
  where: string,
  usage: boolean | UsageOptions | undefined,
): { readonly keys: UsageKeys; readonly keyUse: boolean } | undefined {
  if (usage === undefined || usage === false) return undefined;
  if (usage === true) return { keys: 'hash', keyUse: false };
  if (typeof usage !== 'object' || usage === null) {
    throw new TypeError(
      `${where}: usage must be true, false or an object such as { keys: 'plain' }, not ${describe(usage)}`,
    );
  }
  checkOptions(`${where}: usage`, usage, ['keys', 'keyUse']);
  const { keys = 'hash', keyUse = false } = usage;
  if (typeof keyUse !== 'boolean') {
    throw new TypeError(`${where}: usage.keyUse must be true or false, not ${describe(keyUse)}`);
  }
  if (keys === 'hash' || keys === 'plain') return { keys, keyUse };
  throw new TypeError(
    `${where}: usage.keys must be 'hash', or 'plain' to show keys as they are stored, not ${describe(keys)}`,
  );
}
