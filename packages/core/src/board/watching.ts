import { fleet } from '#platform';
import type { DenialFeed, FleetBoard } from './board.js';

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

/** What the limiters of a store did in this process: `readUsage` of `@sluice/fleet` reads it. */
export interface StoreUsage {
  readonly keys: UsageKeys;
  /** Publishes the counts now. Resolves to false if the store is out. */
  publish(): Promise<boolean>;
  close(): void;
}

/** The store whose denials are sent. */
export interface DenialSource {
  readonly name: string;
  readonly fleet: FleetBoard;
  /** Decides how keys are shown: as they are stored, unless it hashes them. */
  readonly usage?: { readonly keys: UsageKeys } | undefined;
  readonly health?: { address(): string | undefined } | undefined;
}

/** What stores use of `@sluice/fleet`. */
export interface StoreWatching {
  /** @param where for errors @throws TypeError for a wrong option */
  openUsage(where: string, option: true | UsageOptions, board: FleetBoard): StoreUsage;
  /** @param wasUsed whether the store had calls since it was last called */
  sendDenials(source: DenialSource, wasUsed: () => boolean): DenialFeed;
}

/** Undefined without the option `usage`. @param where for errors @throws TypeError */
export const usageOf = (
  where: string,
  option: boolean | UsageOptions | undefined,
  board: FleetBoard,
): StoreUsage | undefined =>
  option === undefined || option === false
    ? undefined
    : loadFleet<StoreWatching>(`${where}: usage`).openUsage(where, option, board);

/**
 * What `@sluice/fleet` has for core. It loads at the first option that needs it, so that a program without these options neither installs nor
 * loads it. Each caller names the exports that it uses.
 * @param option for the error: `redisStore: usage`
 * @throws TypeError if the package cannot be loaded
 */
export function loadFleet<Exports>(option: string): Exports {
  const loaded = fleet();
  if ('exports' in loaded) return loaded.exports as Exports;
  const { code, message } = loaded.cause as Error & { readonly code?: unknown };
  const remedy =
    code === 'MODULE_NOT_FOUND'
      ? 'install it (npm install @sluice/fleet)'
      : `${message}. In a bundle, leave it outside (external: ['@sluice/fleet'])`;
  throw new TypeError(`${option} needs the package @sluice/fleet: ${remedy}`, { cause: loaded.cause });
}
