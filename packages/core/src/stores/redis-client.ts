import type { Script } from '../algorithms/algorithm.js';
import { NoConnectionError } from './redis-errors.js';

/**
 * What we need of a Redis client: an ioredis `Redis` or `Cluster`, version 5 or 6, is one as it is. Without `status` the
 * client is taken to be ready always.
 */
export interface RedisClient {
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(source: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** A connection of its own with the same settings; only waiting for a concurrency limit needs one. A Cluster takes nodes first. */
  duplicate?(override?: object, clusterOverride?: object): unknown;
  readonly isCluster?: boolean;
  readonly options?: { readonly keyPrefix?: string | undefined };
  /** ioredis: `'wait'`, `'connecting'`, `'ready'`, `'reconnecting'`, `'end'`, … */
  readonly status?: string;
  connect?(): Promise<unknown>;
  on?(event: string, listener: (error?: Error) => void): unknown;
  removeListener?(event: string, listener: (error?: Error) => void): unknown;
}

/**
 * Settings for a client whose calls are sent at most once and never late: nothing is kept for a server that is away, and
 * nothing is sent again when a reply is lost. `redisStore(url)` uses them; give them to a client of your own too.
 */
export const recommendedRedisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 500,
  socketTimeout: 1000,
} as const;

/** EVALSHA first; the whole text only when the server does not know it; no other error is tried again. */
export async function runScript(
  client: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly string[],
  abandoned: () => boolean,
): Promise<unknown> {
  try {
    return await client.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!/NOSCRIPT|NoScriptError/.test(String(error)) || abandoned()) throw error;
    return await client.eval(script.source, keys.length, ...keys, ...args);
  }
}

/**
 * Resolves when the client is connected. Sending before that would leave a call in the client's queue, to be counted whenever
 * the server comes back, long after its caller was told that it failed.
 */
export function whenReady(client: RedisClient): Promise<void> {
  if (client.status === 'end' || client.on === undefined) {
    return Promise.reject(new Error(`the connection is in state '${client.status}'`));
  }
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      client.removeListener?.('ready', opened);
      client.removeListener?.('close', lost);
      done();
    };
    const opened = () => settle(resolve);
    const lost = () => settle(() => reject(new NoConnectionError('no connection')));
    client.on?.('ready', opened);
    client.on?.('close', lost);
    // A lazy client connects when asked; how that ends is told by the events above and by 'error'.
    if (client.status === 'wait') client.connect?.().catch(() => {});
  });
}
