import { toMicros } from '@sluice/core/internal';
import type { StoredEntries } from '@sluice/entries';
import { CliError } from './cli-error.js';
import { connectDatabase, type DatabaseOptions, isDatabase, type SharedStore } from './database.js';
import type { Finding } from './doctor/finding.js';
import type { DoctorOptions } from './doctor/settings.js';
import { connectRedis, type RedisConnection, type RedisConnectionOptions } from './redis-connection.js';

/** The options of the command line for the store. */
export interface ConnectionOptions extends RedisConnectionOptions, DatabaseOptions {
  readonly store?: string;
  readonly deadline: string;
}

/** The store that a command works with. */
export interface Connection {
  readonly store: SharedStore;
  /** What the store keeps, as it is. Undefined: it does not list its keys. */
  readonly entries?: StoredEntries | undefined;
  /** What the commands need that look at the servers themselves. Undefined: it is no Redis. */
  readonly redis?: RedisConnection | undefined;
  /** Looks at a database itself, for `doctor`. Undefined: it is a Redis, or there are no checks for it. */
  readonly examine?: ((options: DoctorOptions) => Promise<Finding[]>) | undefined;
  /** The address without user and password. */
  readonly address: string;
  /** Did an option or the environment say where the store is? Otherwise it is the Redis of this machine. */
  readonly isGiven: boolean;
  /** Deadline of one reply, ms. */
  readonly deadline: number;
  close(): Promise<void>;
}

/** The entries of a store, for `copy`. @throws CliError for one that does not list its keys */
export function entriesOf({ entries, address }: Connection): StoredEntries {
  if (entries !== undefined) return entries;
  throw new CliError(
    `${address} does not list its keys over HTTP.`,
    'Give the address of the same database for clients of Redis: rediss://default:PASSWORD@HOST:6379',
  );
}

/** A store that an option of its own command names. */
export interface NamedStore {
  /** As `--store` takes it. Undefined: the options of all commands say where the store is. */
  readonly address: string | undefined;
  /** May the command make the file of a database? */
  readonly creates?: boolean;
  /** Do limiters of this process count in it? Then it publishes them, and a lost server is tried again without end. */
  readonly serves?: boolean;
}

const PLACES = ['store', 'redis', 'cluster', 'sentinel'] as const;

/** Does not connect yet. @throws CliError for options that contradict each other */
export async function connectionOf(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
  { address, creates = false, serves = false }: NamedStore = { address: undefined },
): Promise<Connection> {
  const given = PLACES.filter((name) => options[name] !== undefined);
  if (given.length > 1)
    throw new CliError(
      `Give one of --${given.join(' and --')}, not both.`,
      'They name different kinds of servers.',
    );
  const deadline = toMicros('--deadline', options.deadline) / 1000;
  const usual = options.store ?? (given.length === 0 ? env.SLUICE_STORE || undefined : undefined);
  const store = address ?? usual;
  const isGiven = store !== undefined || given.length > 0 || Boolean(env.REDIS_URL);
  if (store !== undefined && isDatabase(store)) {
    const { table } = options;
    return { ...(await connectDatabase(store, { table, creates, serves })), isGiven, deadline };
  }
  const server = address === undefined ? options : optionsOfNamed(address, options);
  const redis = address ?? options.redis ?? usual;
  return { ...connectRedis({ ...server, redis }, env, deadline, serves), isGiven, deadline };
}

/** The options of the command line for a store of its own address. A login in that address belongs to it, and `--user` to another store. */
function optionsOfNamed(address: string, options: ConnectionOptions): ConnectionOptions {
  const hasLogin = /:\/\/[^/]*@/.test(address);
  return {
    ...options,
    cluster: undefined,
    sentinel: undefined,
    user: hasLogin ? undefined : options.user,
  };
}
