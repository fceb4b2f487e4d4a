import { errorMonitor } from 'node:events';
import type { Script } from '../../algorithms/algorithm.js';
import { NoConnectionError } from './errors.js';
import type { Written } from './wire.js';

/**
 * What we need of a Redis client: a `Redis` or `Cluster` of ioredis (5 or 6) or iovalkey is one as it is. Without `status` the
 * client is taken to be ready always.
 */
export interface RedisClient {
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(source: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** A connection of its own with the same settings; only waiting for a concurrency limit needs one. A Cluster takes nodes first. */
  duplicate?(override?: object, clusterOverride?: object): unknown;
  /** Asked once, for whether the server evicts keys. */
  info?(section: string): Promise<unknown>;
  readonly isCluster?: boolean;
  readonly options?: RedisClientSettings;
  /** ioredis: `'wait'`, `'connecting'`, `'ready'`, `'reconnecting'`, `'end'`, … */
  readonly status?: string;
  /** ioredis: what commands are written to. */
  readonly stream?: unknown;
  connect?(): Promise<unknown>;
  /** ioredis Cluster: the connections to its nodes. */
  nodes?(role: 'master'): readonly RedisClient[];
  on?(event: string | symbol, listener: (...told: unknown[]) => void): unknown;
  removeListener?(event: string | symbol, listener: (...told: unknown[]) => void): unknown;
}

/** Settings of a client that are read here; whoever has none of them, has them. */
export interface RedisClientSettings {
  readonly keyPrefix?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Path of a Unix domain socket. */
  readonly path?: string | null | undefined;
  /** Name of the primary, with sentinels. */
  readonly name?: string | null | undefined;
  readonly url?: string | undefined;
  readonly autoResendUnfulfilledCommands?: boolean | undefined;
  readonly maxRetriesPerRequest?: number | null | undefined;
  readonly retryDelayOnFailover?: number | undefined;
}

/**
 * EVALSHA first; the whole text only when the server does not know it; no other error is tried again.
 * @param write keys and arguments as of now; undefined when nobody waits any more
 */
export function runScript(
  client: RedisClient,
  script: Script,
  write: () => Written | undefined,
): Promise<unknown> {
  const call = write();
  if (call === undefined) return nobody();
  const { keys, args } = call;
  return client.evalsha(script.sha1, keys.length, ...keys, ...args).then(undefined, (error) => {
    if (!/NOSCRIPT|NoScriptError/.test(String(error))) throw error;
    const again = write();
    if (again === undefined) return nobody();
    return client.eval(script.source, again.keys.length, ...again.keys, ...again.args);
  });
}

const nobody = (): Promise<never> => Promise.reject(new Error('given up before it was sent'));

/**
 * May a command be written now? A client would keep what it cannot write, to be counted whenever the server comes back, long after
 * its caller was told that it failed. A connection that has just been lost may still call itself ready.
 */
export function isReady({ status, stream }: RedisClient): boolean {
  if (status === undefined) return true;
  return status === 'ready' && (stream as { writable?: boolean } | null | undefined)?.writable !== false;
}

/** A connection attempt that calls wait for. */
interface Connecting {
  readonly ready: Promise<void>;
  giveUp(): void;
}

const connecting = new WeakMap<RedisClient, Connecting>();

/**
 * Resolves when the client is connected. Rejects when the server refuses or the client gives up. After a slow or broken attempt the
 * client tries again; the caller decides how long to wait. All callers share one promise.
 * @param refused whether the next attempt would fail with the same error
 * @throws NoConnectionError
 */
export function whenReady(client: RedisClient, refused: (error: unknown) => boolean): Promise<void> {
  let one = connecting.get(client);
  if (one === undefined) {
    if (client.status === 'end' || client.on === undefined) {
      return Promise.reject(new NoConnectionError(`the connection is in state '${client.status}'`));
    }
    one = connect(client, refused);
    connecting.set(client, one);
  }
  return one.ready;
}

/** Rejects all calls that wait for this client. A client that is ended between two attempts emits no event. */
export function stopWaiting(client: RedisClient): void {
  connecting.get(client)?.giveUp();
}

function connect(client: RedisClient, refused: (error: unknown) => boolean): Connecting {
  let giveUp = () => {};
  const ready = new Promise<void>((resolve, reject) => {
    const settle = (done: () => void) => {
      connecting.delete(client);
      client.removeListener?.('ready', opened);
      client.removeListener?.('end', lost);
      client.removeListener?.(errorMonitor, failed);
      done();
    };
    const opened = () => settle(resolve);
    const lost = () => settle(() => reject(new NoConnectionError('no connection')));
    const failed = (error: unknown) => {
      if (refused(error)) lost();
    };
    giveUp = lost;
    client.on?.('ready', opened);
    client.on?.('end', lost);
    // Heard by the way: an error that nobody else listens to is dealt with as if we did not either.
    client.on?.(errorMonitor, failed);
    // A lazy client connects when asked; how that ends is told by the events above.
    if (client.status === 'wait') client.connect?.().catch(() => {});
  });
  return { ready, giveUp };
}
