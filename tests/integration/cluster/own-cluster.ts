import { Cluster as Cluster6, type ClusterOptions } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis-5';
import { createCluster } from 'redis';
import {
  RateLimiter,
  type RateLimiterOptions,
  type RedisStore,
  redisStore,
} from '../../../packages/core/src/index.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { endConnectionsAtOnce } from '../../support/redis/end-at-once.js';
import {
  type ClusterNode,
  type RedisCluster,
  type ClusterOptions as Servers,
  startRedisCluster,
} from '../../support/redis/redis-cluster.js';
import type { ClientOptions } from '../../support/redis/test-client.js';
import { uniqueName } from '../../support/redis-url.js';
import { rethrow } from '../../support/rethrow.js';

export { eventually } from '../../support/eventually.js';
export { rejection } from '../../support/rejection.js';

/** Options without those that change the type of replies. */
type Options = Omit<ClusterOptions, 'redisOptions'> & { redisOptions?: ClientOptions };

export interface Kind {
  readonly name: string;
  connect(addresses: RedisCluster['addresses'], options?: Options): Cluster6;
}

const ioredis6 = (addresses: RedisCluster['addresses'], options: Options = {}): Cluster6 =>
  new Cluster6([...addresses], options);

export const KINDS: readonly Kind[] = [
  { name: 'ioredis 6', connect: ioredis6 },
  {
    name: 'ioredis 5',
    connect: (addresses, options = {}) =>
      new Cluster5([...addresses], options as object) as unknown as Cluster6,
  },
  {
    name: 'a Cluster without a queue that connects lazily, with a keyPrefix',
    connect: (addresses, options) =>
      ioredis6(addresses, { enableOfflineQueue: false, lazyConnect: true, keyPrefix: 'app:', ...options }),
  },
];

/** A cluster for one test file. Connections opened here close after each test. */
export class OwnCluster {
  #cluster: RedisCluster | undefined;
  #opened: { close(): unknown }[] = [];

  constructor(servers: Servers = {}) {
    endConnectionsAtOnce();
    beforeAll(async () => {
      this.#cluster = await startRedisCluster(servers);
    });
    afterEach(async () => {
      for (const thing of this.#opened.splice(0).reverse()) await thing.close();
    });
    afterAll(async () => {
      await this.#cluster?.stop();
    });
  }

  get nodes(): readonly ClusterNode[] {
    return this.#cluster!.nodes;
  }

  get replicas(): readonly ClusterNode[] {
    return this.#cluster!.replicas;
  }

  get addresses(): RedisCluster['addresses'] {
    return this.#cluster!.addresses;
  }

  whole(): Promise<void> {
    return this.#cluster!.whole();
  }

  open<T extends { close(): unknown }>(thing: T): T {
    this.#opened.push(thing);
    return thing;
  }

  client({ connect }: Kind = KINDS[0]!, options?: Options): Cluster6 {
    const client = connect(this.addresses, options);
    client.on('error', () => undefined);
    this.open({ close: () => client.disconnect() });
    return client;
  }

  /** A store on its own Cluster client, as in another process. */
  store(kind?: Kind, options?: Options): RedisStore {
    return this.open(storeOnDefaults(this.client(kind, options)));
  }

  /** A store on its own cluster client of node-redis. */
  nodeRedisStore(): RedisStore {
    const client = createCluster({ rootNodes: this.nodes.map(({ url }) => ({ url })) });
    this.open({ close: () => client.destroy() });
    return this.open(redisStore(client));
  }

  /**
   * Pass `store` to share one. The deadline is generous because a busy machine is slow. There is no deny cache, so that every call
   * reaches its node.
   */
  limiter(options: Partial<RateLimiterOptions>): RateLimiter {
    const given = {
      name: uniqueName('cluster'),
      deadline: '10s',
      denyCache: false,
      failurePolicy: rethrow,
      ...options,
    };
    return this.open(new RateLimiter({ store: this.store(), ...given } as RateLimiterOptions));
  }

  /** The keys of each node that have `name` in them. */
  keys(name: string): Promise<string[][]> {
    return Promise.all(this.nodes.map(async ({ ask }) => (await ask('KEYS', `*${name}*`)) as string[]));
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.nodes[0]!.ask('CLUSTER', 'KEYSLOT', key));
  }

  /** A user's key whose slot is this node's at the start. */
  async keyOn(node: ClusterNode): Promise<string> {
    const share = Math.ceil(16_384 / this.nodes.length);
    for (let i = 0; ; i += 1) {
      if (this.nodes[Math.floor((await this.slotOf(`k${i}`)) / share)] === node) return `k${i}`;
    }
  }

  /** Moves a slot with its keys; `between` runs before each step. */
  async move(slot: number, from: ClusterNode, to: ClusterNode, between = async () => {}): Promise<void> {
    await to.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
    await from.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
    for (;;) {
      await between();
      const [key] = (await from.ask('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
      if (key === undefined) break;
      await from.ask('MIGRATE', '127.0.0.1', to.port, key, 0, 60_000);
    }
    for (const { ask } of [to, ...this.nodes]) await ask('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
  }
}
