import { toMicros } from '@sluice/core/internal';
import { CliError } from './cli-error.js';
import { connectDatabase, isDatabase, type SharedStore } from './database.js';
import { connectRedis, type RedisConnection, type RedisConnectionOptions } from './redis-connection.js';

/** The options of the command line for the store. */
export interface ConnectionOptions extends RedisConnectionOptions {
  readonly store?: string;
  readonly deadline: string;
}

/** The store that a command works with. */
export interface Connection {
  readonly store: SharedStore;
  /** What the commands need that look at the servers themselves. Undefined: it is no Redis. */
  readonly redis?: RedisConnection | undefined;
  /** The address without user and password. */
  readonly address: string;
  /** Deadline of one reply, ms. */
  readonly deadline: number;
  close(): Promise<void>;
}

const PLACES = ['store', 'redis', 'cluster', 'sentinel'] as const;

/** Does not connect yet. @throws CliError for options that contradict each other */
export async function connectionOf(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<Connection> {
  const given = PLACES.filter((name) => options[name] !== undefined);
  if (given.length > 1)
    throw new CliError(
      `Give one of --${given.join(' and --')}, not both.`,
      'They name different kinds of servers.',
    );
  const deadline = toMicros('--deadline', options.deadline) / 1000;
  const { store = given.length === 0 ? env.SLUICE_STORE || undefined : undefined } = options;
  if (store !== undefined && isDatabase(store)) return { ...(await connectDatabase(store)), deadline };
  return { ...connectRedis({ ...options, redis: options.redis ?? store }, env, deadline), deadline };
}
