import { Redis } from 'ioredis';
import {
  ManualClock,
  memoryStore,
  type RedisStore,
  SharedLimiter,
  type SharedLimiterOptions,
  type SharedRate,
  type Store,
} from '../../../../packages/core/src/index.js';
import { rateAnswer } from '../../../../packages/core/src/stores/redis/reply.js';
import { sharedRateScript } from '../../../../packages/core/src/stores/shared-rate.script.js';
import { upstashStore } from '../../../../packages/upstash/src/index.js';
import { storeOnDefaults } from '../../../support/expecting-warning.js';
import { like } from '../../../support/like.js';
import { redisUrl, uniqueName } from '../../../support/redis-url.js';
import { UPSTASH_TOKEN, type UpstashDouble } from '../../../support/upstash.js';
import type { StoreKind } from '../harness.js';
import { postgres, sqlite } from '../openers.js';

/** Two stores on the same state: two processes of a fleet. */
interface Fleet {
  readonly stores: readonly [Store, Store];
  close(): Promise<void>;
}

export interface FleetKind {
  readonly name: string;
  open(clock: ManualClock): Fleet;
}

export const memoryFleet: FleetKind = {
  name: 'memory',
  open(clock) {
    const store = memoryStore({ clock });
    return { stores: [store, like(store, {})], close: () => store.close() };
  },
};

/** Two connections, whose scripts get the time as an argument, as tests may pass it. */
const fleetOfRedis = (openStore: (client: Redis) => RedisStore): FleetKind => ({
  name: 'redis',
  open(clock) {
    const opened = [0, 1].map(() => {
      const client = new Redis(redisUrl());
      return { client, store: openStore(client) };
    });
    const stores = opened.map(({ client, store }) =>
      like(store, {
        clock,
        decide: async (call) => (await store.decideAll([call], clock.now()))[0]!,
        rate: async ({ action, key, rate }) => {
          const numbers = rate === undefined ? [] : [rate.keepAlive, rate.perClient, ...rate.parameters];
          const args = [clock.now(), action, ...numbers].map(String);
          return rateAnswer((await client.eval(sharedRateScript.source, 1, key, ...args)) as number[]);
        },
      }),
    );
    return {
      stores: stores as [Store, Store],
      close: async () => {
        for (const { client, store } of opened) {
          await store.close();
          client.disconnect();
        }
      },
    };
  },
});

export const redisFleet = fleetOfRedis(storeOnDefaults);

/** The permits are taken over HTTP; only rates, which need the time of the test, are set over a connection. */
export const upstashFleet = (double: () => UpstashDouble): FleetKind =>
  fleetOfRedis(() => upstashStore({ url: double().url, token: UPSTASH_TOKEN }));

/** Two connections to one file or table. */
function fleetOf(kind: StoreKind): FleetKind {
  return {
    name: kind.name,
    open(clock) {
      const store = kind.open(clock);
      const other = kind.another(store, clock);
      return {
        stores: [store, other],
        close: async () => {
          await store.close();
          await other.close();
        },
      };
    },
  };
}

export const sqliteFleet = fleetOf(sqlite);
export const postgresFleet = fleetOf(postgres);

type LimiterOptions = Partial<Pick<SharedLimiterOptions, 'name' | 'clientId' | 'keyPrefix'>>;

/** What a test has at hand. Its hours are those of a clock that only the test moves. */
export class SharedHarness {
  clock = new ManualClock();
  #fleet!: Fleet;
  #limiters: SharedLimiter[] = [];

  constructor(kind: FleetKind) {
    beforeEach(() => {
      this.clock = new ManualClock();
      this.#fleet = kind.open(this.clock);
    });
    afterEach(async () => {
      for (const limiter of this.#limiters.splice(0)) await limiter.close();
      await this.#fleet.close();
    });
  }

  /** A limiter in this process. */
  limiter(options: LimiterOptions = {}, store = this.#fleet.stores[0]): SharedLimiter {
    const limiter = new SharedLimiter({ name: uniqueName('shared'), store, deadline: '10s', ...options });
    this.#limiters.push(limiter);
    return limiter;
  }

  /** The same limit, in another process. */
  elsewhere({ name }: SharedLimiter, clientId?: string): SharedLimiter {
    return this.limiter({ name, ...(clientId === undefined ? {} : { clientId }) }, this.#fleet.stores[1]);
  }

  /** One whose rate is set. */
  async set(rate: SharedRate, options: LimiterOptions = {}): Promise<SharedLimiter> {
    const limiter = this.limiter(options);
    await limiter.setRate(rate);
    await this.moment();
    return limiter;
  }

  /** Between two calls of a program time passes. */
  async moment(): Promise<void> {
    await this.clock.advance('1ms');
  }

  /** Resolves when all earlier calls of this limiter have their answers. */
  async answered(limiter: SharedLimiter): Promise<void> {
    await limiter.getConfig();
    await limiter.availablePermits().catch(() => {}); // whatever it says
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Takes all that there is, and says how much that was. */
export async function drain(limiter: SharedLimiter): Promise<number> {
  let taken = 0;
  while (taken < 1000 && (await limiter.tryAcquire())) taken += 1;
  return taken;
}
