import { fixedWindow, type LimiterBaseOptions, type RateLimiter } from '@sluice/core';
import { checkOptions, LimiterPool } from '@sluice/core/internal';

const OPTIONS = [
  'name',
  'store',
  'keyPrefix',
  'hashTag',
  'deadline',
  'failurePolicy',
  'denyCache',
] as const satisfies readonly (keyof LimiterBaseOptions)[];

/** Where and how a host's hits are counted. The host keeps its own options: limits, windows, keys, headers and answers. */
export interface HostStoreOptions extends Pick<LimiterBaseOptions, (typeof OPTIONS)[number]> {}

const HOST = 'the host counts by its own options. Pass it to the host';
const REMEDIES = {
  ...Object.fromEntries(
    ['limit', 'max', 'windowMs', 'window', 'ttl', 'timeWindow', 'policy', 'policies'].map((name) => [
      name,
      HOST,
    ]),
  ),
  prefix: "pass name: 'api', which is part of each key",
  client: 'pass store: redisStore(client)',
  sendCommand: 'pass store: redisStore(client)',
  redis: 'pass store: redisStore(client)',
};

/** The most limits and windows that one store of a host keeps ready. Counts of others stay in the store. */
const MOST_LIMITERS = 1000;

/** The limiters of one store of a host: one for each limit and window. A key keeps its count when they change. */
export class HostLimiters {
  readonly #pool: LimiterPool;

  /** @throws RangeError, TypeError naming the invalid option */
  constructor(options: HostStoreOptions, block?: number) {
    // One denial blocks. The escalation is forgotten with the block.
    const escalate = block !== undefined && { after: 1, within: 1, block, forgive: 1 };
    this.#pool = new LimiterPool({ ...options, escalate }, MOST_LIMITERS);
  }

  /** @throws RangeError unless the limit is a whole number and the window a duration up to ten years; LimiterClosedError */
  get(limit: number, window: number): RateLimiter {
    this.#pool.checkOpen();
    const key = `${limit}/${window}`;
    return this.#pool.limiters.get(key) ?? this.#pool.add(key, fixedWindow({ limit, window }));
  }

  get name(): string {
    return this.#pool.name;
  }

  /** Closes the limiters, and the store if none was passed. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** @throws TypeError for an unknown option */
export const checkHostOptions = (where: string, options: HostStoreOptions): void =>
  checkOptions(where, options, OPTIONS, REMEDIES);
