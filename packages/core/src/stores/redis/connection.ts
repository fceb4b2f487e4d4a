import { LONGEST_TIMER } from '../../clock.js';
import { StoreConfigurationError } from '../../errors.js';
import type { RedisClient } from './client.js';
import { isSelectError } from './errors.js';
import { clusterOptions, sentinelOptions, serverOptions } from './own-settings.js';
import type { OwnPlace } from './redis-store-options.js';
import { recommendedRedisOptions } from './settings.js';

/** What we need of the package. */
type Ioredis = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

type OwnClient = RedisClient & {
  disconnect(reconnect?: boolean): void;
  nodes?(): readonly OwnClient[];
  readonly options: { socketTimeout?: number | undefined; connectTimeout?: number | undefined };
};

/** Node's own: under a fake one a client that has ended would never begin again. */
const { setTimeout, clearTimeout } = globalThis;

/** ms until a client that has ended begins again. */
const REVIVAL_MS = 100;
/** ms until a connection to the wrong database is replaced. */
const SELECT_AGAIN_MS = 1_000;
/** ms; no connection is given up sooner for want of an answer: with the usual deadline it is known by then that the store is out. */
const SHORTEST_PATIENCE = recommendedRedisOptions.socketTimeout;
/** Time limit of a connection attempt, ms, unless a call waits longer. */
const SHORTEST_ATTEMPT = recommendedRedisOptions.connectTimeout;

/** The client that a store makes for itself: at its first call, with settings by which a call is counted at most once. */
export class OwnConnection {
  /** ioredis. Loading it takes longer than a deadline leaves for a server's answer. */
  readonly loading: Promise<Ioredis>;
  #client: OwnClient | undefined;
  /** The longest time that a call has waited so far, ms. */
  #deadline = 0;
  #retrying: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(readonly place: OwnPlace) {
    this.loading = loadIoredis();
    this.loading.catch(() => {}); // the first call tells
  }

  get isCluster(): boolean {
    return 'cluster' in this.place;
  }

  async open(): Promise<RedisClient> {
    const ioredis = await this.loading;
    this.#client ??= this.#create(ioredis);
    return this.#client;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retrying);
    this.#client?.disconnect();
  }

  /**
   * Sets the timeouts of the connections. A connection without data for three times the longest deadline is replaced: a dead network path is
   * found soon, and no answer is cut off. A connection attempt lasts as long as a call waits for it, unless there are other servers to try.
   * @param deadline ms that a call waits for an answer
   */
  expect(deadline = 0): void {
    if (deadline <= this.#deadline) return;
    this.#deadline = deadline;
    for (const connection of this.#client?.nodes?.() ?? [this.#client]) this.#setPatience(connection);
  }

  #setPatience(connection: OwnClient | undefined): void {
    if (connection === undefined) return;
    const { options } = connection;
    options.socketTimeout = Math.min(LONGEST_TIMER, Math.max(SHORTEST_PATIENCE, 3 * this.#deadline));
    if (!('url' in this.place) || this.place.options?.connectTimeout !== undefined) return;
    options.connectTimeout = Math.min(LONGEST_TIMER, Math.max(SHORTEST_ATTEMPT, this.#deadline));
  }

  #create({ Redis, Cluster }: Ioredis): OwnClient {
    const place = this.place;
    let client: unknown;
    if ('cluster' in place) client = new Cluster([...place.cluster], clusterOptions(place));
    else if ('sentinels' in place) client = new Redis(sentinelOptions(place));
    else client = new Redis(...serverOptions(place));
    const own = client as OwnClient;
    // Decisions and events report errors.
    own.on?.('error', (error) => {
      if (isSelectError(error)) this.#retry(() => own.disconnect(true), SELECT_AGAIN_MS);
    });
    own.on?.('+node', (node) => this.#setPatience(node as OwnClient));
    own.on?.('end', () => this.#revive(own));
    if (own.nodes === undefined) this.#setPatience(own);
    return own;
  }

  /** A client of ioredis that hears of a failover while it is connecting ends for ever, as does one whose attempts are refused in other ways. */
  #revive(client: OwnClient): void {
    this.#retry(() => client.connect?.().catch(() => {}), REVIVAL_MS);
  }

  #retry(begin: () => void, ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#retrying);
    this.#retrying = setTimeout(begin, ms).unref();
  }
}

function loadIoredis(): Promise<Ioredis> {
  return import('ioredis').catch((cause: unknown) => {
    throw new StoreConfigurationError(
      'redisStore needs the package ioredis, unless it is given a client: npm install ioredis',
      { cause },
    );
  });
}
