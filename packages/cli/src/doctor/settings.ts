import type { ConnectionOptions } from 'node:tls';
import type { RedisClusterOptions, RedisSentinelOptions, RedisServerOptions } from '@sluice/core';

/** The connection to Redis, as in the options of `redisStore`. */
export type Connection = RedisServerOptions | RedisSentinelOptions | RedisClusterOptions;

export interface DoctorOptions {
  /** The longest time that the limiters wait for a decision, ms. Default 100, as for limiters. */
  readonly deadline?: number;
  /** The `keyPrefix` of the limiters. Default `sluice`. */
  readonly prefix?: string;
  /** The user whose rights are checked. Default: the connection's user. */
  readonly user?: string;
  /** Scan all keys instead of the first few thousand. Default false. */
  readonly scan?: boolean;
  /** The longest wait for one reply, ms. Default 2000. */
  readonly timeout?: number;
  /** Deadline of the whole examination, ms. Default 20000, with `scan` 10 minutes. */
  readonly total?: number;
  /** Aborts the examination, which then rejects with its reason. */
  readonly signal?: AbortSignal;
}

export interface Settings {
  readonly deadline: number;
  readonly prefix: string;
  readonly user: string | undefined;
  readonly scan: boolean;
}

export interface Timing {
  /** The longest wait for one reply, ms. */
  readonly timeout: number;
  /** Aborts the examination. */
  readonly signal: AbortSignal;
}

export interface Credentials {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: ConnectionOptions;
  readonly family?: number;
}

/** @throws RangeError for a time that is not a positive number of milliseconds */
export function settingsOf(options: DoctorOptions): Settings & { timeout: number; total: number } {
  const { deadline = 100, prefix = 'sluice', user, scan = false, timeout = 2_000 } = options;
  const { total = scan ? 600_000 : 20_000 } = options;
  for (const [name, value] of Object.entries({ deadline, timeout, total }))
    if (!(Number.isFinite(value) && value > 0))
      throw new RangeError(`doctor: ${name} must be a positive number of milliseconds, not ${value}`);
  return { deadline, prefix, user, scan, timeout, total };
}
