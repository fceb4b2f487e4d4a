import supertest from 'supertest';
import {
  type Duration,
  type FixedWindowPolicy,
  fixedWindow,
  isStoreUnavailableError,
  ManualClock,
  type Policy,
  RateLimiter,
  type Store,
} from '../../../packages/core/src/index.js';
import { like } from '../../support/like.js';
import { uniqueName } from '../../support/redis-url.js';
import { memory, redisByAddress } from '../store/openers.js';
import { adapters } from './frameworks/index.js';
import type { Limit, Running, Service } from './frameworks/service.js';

/** Where a limit counts. */
export interface LimitStorage {
  readonly name: string;
  readonly store: Store;
  readonly keyPrefix: string;
  readonly deadline: Duration;
}

/** What the tests of an adapter work with. */
export interface Tools {
  /** Serves until the end of the test. Limits that name no limiter and no store count in the test's own place. */
  start(service: Service): Promise<ReturnType<typeof supertest>>;
  /** The address of the service that was started last. */
  url(): string;
  /** Starts another service beside it; the caller closes it. */
  serve(service: Service): Promise<Running>;
  /** The test's own place, on the clock that `advance` moves. */
  place(name?: string): LimitStorage;
  /** What another process would have open there; the caller closes its store. */
  elsewhere(name?: string): LimitStorage;
  /** A limiter there, which is closed when the test ends. */
  limiter(name: string, policy: Policy): RateLimiter;
  advance(by: Duration): Promise<void>;
  /** Resolves when this number of waits have begun in this test. */
  asleep(waits: number): Promise<void>;
}

/**
 * `limit` permits in an hour of a clock that only the test moves. Hours, because what lies in Redis must not expire by the
 * server's own clock meanwhile.
 */
export const hourly = (limit: number): FixedWindowPolicy => fixedWindow({ limit, window: '1h' });

/** Resolves when a call has begun to wait. */
class WatchedClock extends ManualClock {
  #begun = 0;
  #watchers: { readonly count: number; readonly tell: () => void }[] = [];

  override sleep(micros: number, signal?: AbortSignal): Promise<void> {
    this.#begun += 1;
    for (const { count, tell } of this.#watchers) if (count <= this.#begun) tell();
    return super.sleep(micros, signal);
  }

  begun(count: number): Promise<void> {
    if (count <= this.#begun) return Promise.resolve();
    return new Promise((tell) => this.#watchers.push({ count, tell }));
  }
}

/** The store, which writes down why calls failed. */
function reporting(store: Store, outages: string[]): Store {
  if (!store.remote) return store;
  return like(store, {
    decide: async (call, caller) => {
      try {
        return await store.decide(call, caller);
      } catch (error) {
        if (isStoreUnavailableError(error)) outages.push(`${error.reason}: ${error.message}`);
        throw error;
      }
    },
  });
}

const kinds = { memory, Redis: redisByAddress };

/** What every adapter must do, on every kind of store. */
export function onEachAdapter(
  tests: (tools: Tools) => void,
  stores: readonly (keyof typeof kinds)[] = ['memory', 'Redis'],
): void {
  const cases = adapters.flatMap((adapter) => stores.map((store) => ({ ...adapter, store })));
  describe.each(cases)('$name, $store', ({ serve, store: kind }) => {
    let clock: WatchedClock;
    let store: Store;
    let keyPrefix: string;
    let open: { close(): Promise<unknown> }[] = [];
    let running: Running;
    /** Why the server gave no answer: no test of this place takes its server away, and a status alone does not name the reason. */
    let outages: string[];

    beforeEach(() => {
      clock = new WatchedClock();
      outages = [];
      store = reporting(kinds[kind].open(clock), outages);
      keyPrefix = uniqueName('contract');
      open = [store];
    });
    afterEach(async () => {
      for (const thing of open.splice(1).reverse()) await thing.close();
      await givenBack();
      await store.close();
      expect(outages).toEqual([]);
    });

    /** Waits until finished requests have given back their permits: a later call uses the same connection, so it comes after that. */
    const givenBack = async () => {
      const last = new RateLimiter({ ...place('last'), policy: hourly(1) });
      for (let trip = 0; trip < 2; trip += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        await last.peek('k');
      }
      await last.close();
    };

    const place = (name = 'default', at = store): LimitStorage => ({
      name,
      store: at,
      keyPrefix,
      deadline: '10s',
    });
    const placed = (limit: Limit): Limit =>
      limit.limiter === undefined && limit.store === undefined && limit.rules === undefined
        ? { ...place(), ...limit }
        : limit;

    tests({
      start: async ({ limits = [], scopes = [], ...service }) => {
        running = await serve({
          ...service,
          limits: limits.map(placed),
          scopes: scopes.map(({ limits: own = [], routes, ...scope }) => ({
            ...scope,
            limits: own.map(placed),
            routes: Object.fromEntries(
              Object.entries(routes).map(([path, each]) => [path, each.map(placed)]),
            ),
          })),
        });
        open.push(running);
        return supertest(running.url);
      },
      url: () => running.url,
      serve,
      place: (name) => place(name),
      elsewhere: (name) => place(name, kinds[kind].another(store, clock)),
      limiter: (name, policy) => {
        const limiter = new RateLimiter({ ...place(name), policy });
        open.push(limiter);
        return limiter;
      },
      advance: (by) => clock.advance(by),
      asleep: (waits) => clock.begun(waits),
    });
  });
}
