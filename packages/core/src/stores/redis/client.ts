import type { Socket } from 'node:net';
import type { Script } from '../../algorithms/algorithm.js';
import { FIRST_CONNECTION_MS } from '../../clock.js';
import { clearTimeout, setImmediate, setTimeout } from '../../runtime.js';
import { isSocketTimeout } from './errors.js';

/**
 * What we need of a Redis client: a `Redis` or `Cluster` of ioredis (5 or 6) or iovalkey is one as it is. A client without `status`
 * counts as always ready.
 */
export interface RedisClient {
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(source: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** ioredis, iovalkey: the same two, with replies as bytes. */
  evalshaBuffer?(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalBuffer?(source: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Makes a connection with the same settings; only waiting for a concurrency limit needs one. A Cluster takes nodes first. */
  duplicate?(override?: object, clusterOverride?: object): unknown;
  /** Each command is a request of its own, as over HTTP: the first one may have to connect, and there is nothing to subscribe on. */
  readonly isConnectionless?: boolean;
  /** Tells how long calls wait for an answer, ms. */
  expect?(deadline: number): void;
  /** Called once, to find out whether the server evicts keys. */
  info?(section: string): Promise<unknown>;
  readonly isCluster?: boolean;
  readonly options?: RedisClientSettings;
  /** ioredis: `'wait'`, `'connecting'`, `'ready'`, `'reconnecting'`, `'end'`, … */
  readonly status?: string;
  /** ioredis: the socket. */
  readonly stream?: unknown;
  connect?(): Promise<unknown>;
  /** ioredis Cluster: the connections to its nodes. */
  nodes?(role: 'master'): readonly RedisClient[];
  on?(event: string | symbol, listener: (...args: unknown[]) => void): unknown;
  removeListener?(event: string | symbol, listener: (...args: unknown[]) => void): unknown;
}

/** The settings of a client that are read here. All are optional. */
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

/** A connection that only subscribes. */
export interface Subscriber {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  on(event: 'ready' | 'reconnecting' | 'end', listener: () => void): unknown;
  /** Connects again after the end, unless it is connected. Absent where the client never gives up by itself. */
  connect?(): Promise<unknown>;
  /** @param reconnect whether to connect again */
  disconnect(reconnect?: boolean): void;
}

/** The keys and arguments of a script call. */
export interface Written {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/**
 * Keys and arguments as of now; undefined when all calls were abandoned.
 * @param bytes may the reply be bytes? ioredis decodes integers more slowly than we do
 */
export type Write = (bytes: boolean) => Written | undefined;

/** Sends EVALSHA, and the whole script only if the server does not know it. No other error is retried. */
export function runScript(client: RedisClient, script: Script, write: Write): Promise<unknown> {
  const bytes = client.evalshaBuffer !== undefined && client.evalBuffer !== undefined;
  const call = write(bytes);
  if (call === undefined) return abandoned();
  const { keys, args } = call;
  const sent = bytes
    ? client.evalshaBuffer!(script.sha1, keys.length, ...keys, ...args)
    : client.evalsha(script.sha1, keys.length, ...keys, ...args);
  return sent.then(undefined, (error) => {
    if (!/NOSCRIPT|NoScriptError/.test(String(error))) throw error;
    const again = write(bytes);
    if (again === undefined) return abandoned();
    const whole = [...again.keys, ...again.args];
    return bytes
      ? client.evalBuffer!(script.source, again.keys.length, ...whole)
      : client.eval(script.source, again.keys.length, ...whole);
  });
}

const abandoned = (): Promise<never> => Promise.reject(new Error('given up before it was sent'));

/**
 * Can a command be written now? Otherwise the client would keep it, and the server would count it after it comes back, long after its
 * caller got an error. A connection that was just lost may still call itself ready.
 */
export function isReady({ status, stream }: RedisClient): boolean {
  if (status === undefined) return true;
  return status === 'ready' && (stream as { writable?: boolean } | null | undefined)?.writable !== false;
}

type Listener = (...args: unknown[]) => void;

/** Listeners that can be removed together. */
export class Listeners {
  #added: (readonly [client: RedisClient, event: string | symbol, listener: Listener])[] = [];

  add(client: RedisClient, event: string | symbol, listener: Listener): void {
    client.on?.(event, listener);
    this.#added.push([client, event, listener]);
  }

  /** Removes those of one client, or all. */
  remove(of?: RedisClient): void {
    for (const [client, event, listener] of this.#added)
      if (client === (of ?? client)) client.removeListener?.(event, listener);
    this.#added = this.#added.filter(([client]) => client !== (of ?? client));
  }
}

/** Resolves or rejects like `work`, but rejects with `late()` if it takes longer than `ms`. Default: what a first connection may. */
export function within<T>(work: Promise<T>, late: () => Error, ms = FIRST_CONNECTION_MS): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** ms in which a connection can still show that it is alive, after its `socketTimeout`. */
const GRACE = 100;
const guarded = new WeakSet<object>();

/**
 * ioredis destroys a socket that received nothing for `socketTimeout`. Its timer fires before the socket is read. If the event loop was
 * blocked that long, the answers have arrived but are unread, and Redis has counted the calls. So the socket is read first, and destroyed
 * only if it had no data. This applies to the client's current socket; call it again for the next one.
 */
export function readBeforeTimeout({ stream }: RedisClient): void {
  const socket = stream as Socket | null | undefined;
  if (typeof socket?.destroy !== 'function' || guarded.has(socket)) return;
  guarded.add(socket);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => {
    if (!isSocketTimeout(error)) return destroy(error);
    const before = socket.bytesRead;
    const destroyIfSilent = () => {
      if (socket.bytesRead === before) destroy(error);
    };
    // Timers fire before sockets are read, immediates after.
    setTimeout(() => setImmediate(destroyIfSilent), GRACE).unref();
    return socket;
  };
}

/**
 * Runs `commands` so that they leave in one write for each node of a cluster: a write to a socket costs as much as the rest of a command.
 * Only a Cluster of ioredis shows its sockets; commands of other clients leave one by one.
 */
export function inOneWrite(client: RedisClient | undefined, commands: () => void): void {
  const sockets = (client?.nodes?.('master') ?? [])
    .map(({ stream }) => stream as Partial<Socket> | undefined)
    .filter((socket): socket is Socket => typeof socket?.cork === 'function');
  for (const socket of sockets) socket.cork();
  try {
    commands();
  } finally {
    for (const socket of sockets) socket.uncork();
  }
}
