import {
  CombinedLimiter,
  type Decision,
  ManualClock,
  type Policy,
  RateLimiter,
  type RateLimiterOptions,
  type Store,
} from '../../../packages/core/src/index.js';
import { conformances, merged } from '../../support/conformance/all.js';
import { uniqueName } from '../../support/redis-url.js';
import { within } from '../../support/within.js';

export { rejection } from '../../support/rejection.js';

/** A kind of store, and how a test opens one. */
export interface StoreKind {
  readonly name: string;
  /** A store with this clock, or with its own. It is closed at the end of the test. */
  open(clock?: ManualClock): Store;
  /** A store as in another process: the same state, another connection. */
  another(store: Store, clock?: ManualClock): Store;
  /** Names of `policies`: only these run in the tests of each algorithm. Default: all. */
  readonly algorithms?: readonly string[];
}

/**
 * Every algorithm whose permits are spent: 10 permits, and all of them back in `period`, or a slot later. Periods are
 * hours of a clock that only the test moves: in Redis nothing may expire by the server's own clock meanwhile.
 */
export const rates = merged((record) => (record.holds ? {} : record.policies));

/** All of them, concurrency too, whose permits come back with the lease. */
export const policies = merged((record) => record.policies);

/**
 * One algorithm for each shape of state: a number, a list, a queue whose calls are spaced, held permits. Stores and clients use these if
 * another entry runs all algorithms on the same code: `redis.test.ts` on the script, `sqlite.deep.test.ts` on the tables.
 */
export const REPRESENTATIVES = ['tokenBucket', 'slidingLog', 'leakyBucket', 'concurrency'];

const ofKind = ({ algorithms = Object.keys(policies) }: StoreKind, all: typeof policies) => {
  for (const name of algorithms)
    if (policies[name] === undefined) throw new Error(`No policy is named ${name}`);
  return Object.entries(all).filter(([name]) => algorithms.includes(name));
};

/** `rates` and `policies` of the algorithms that run with this kind of store. */
export const ratesOf = (kind: StoreKind) => ofKind(kind, rates);
export const policiesOf = (kind: StoreKind) => ofKind(kind, policies);

/** Those whose `acquire` spaces its calls: one permit taken, and the next call waits. */
export const spaced: ReadonlySet<string> = new Set(
  conformances.filter(({ spaces }) => spaces).flatMap((record) => Object.keys(record.policies)),
);

/** What a test has at hand. */
export class StoreHarness {
  clock = new ManualClock();
  store!: Store;
  #opened: { close(): Promise<unknown> }[] = [];
  readonly #stores = new WeakMap<RateLimiter, Store>();

  constructor(readonly kind: StoreKind) {
    beforeEach(() => {
      this.clock = new ManualClock();
      this.store = this.#open(kind.open(this.clock));
    });
    afterEach(async () => {
      for (const thing of this.#opened.splice(0).reverse()) await thing.close();
    });
  }

  #open<T extends { close(): Promise<unknown> }>(thing: T): T {
    this.#opened.push(thing);
    return thing;
  }

  /** A store of the same kind by its own clock. */
  live(): Store {
    return this.#open(this.kind.open());
  }

  /** Another process's store for the same state. */
  another(store = this.store): Store {
    return this.#open(this.kind.another(store, store === this.store ? this.clock : undefined));
  }

  limiter(
    limit: Policy | Readonly<Record<string, Policy>>,
    options: Partial<
      Pick<RateLimiterOptions, 'name' | 'store' | 'deadline' | 'escalate' | 'margin' | 'maxWaiting'>
    > = {},
  ): RateLimiter {
    const policy = typeof limit.algorithm === 'string' ? { policy: limit } : { policies: limit };
    const place = { name: uniqueName('contract'), store: this.store, deadline: '10s', ...options };
    const limiter = this.#open(new RateLimiter({ ...place, ...policy } as RateLimiterOptions));
    this.#stores.set(limiter, place.store ?? this.store);
    return limiter;
  }

  combined<Names extends string>(limiters: Readonly<Record<Names, RateLimiter>>): CombinedLimiter<Names> {
    return this.#open(new CombinedLimiter(limiters));
  }

  /**
   * Resolves when earlier calls have their answers, and also calls that these answers cause, a few times over. On one connection a reply
   * comes after the replies to earlier calls.
   */
  async answered(limiter: RateLimiter): Promise<void> {
    const store = this.#stores.get(limiter)!;
    const listens =
      store.listen !== undefined &&
      Object.values(limiter.policies).some(({ algorithm }) => algorithm === 'concurrency');
    for (let trip = 0; trip < 4; trip += 1) {
      await limiter.peek('answered');
      await turn();
      if (!listens) continue;
      const stop = await store.listen!('sluice:answered', () => {});
      stop();
      await turn();
    }
  }
}

/** Lets everything that is ready run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** How long an `acquire` would wait now, ms: 0, or as the denial says. Refunds what it takes. */
export async function nextWait(limiter: RateLimiter, key: string, cost: number): Promise<number> {
  try {
    await limiter.refund(await limiter.acquire(key, { cost, timeout: 0 }));
    return 0;
  } catch (error) {
    return (error as { retryAfter: number }).retryAfter;
  }
}

/** A wait that a test can abort. */
export interface Wait {
  readonly acquired: Promise<Decision>;
  abort(): Promise<void>;
}

export function startWait(
  limiter: RateLimiter,
  key: string,
  cost: number,
  stop = new AbortController(),
): Wait {
  const acquired = within(
    limiter.acquire(key, { cost, signal: stop.signal }),
    `acquire('${key}', { cost: ${cost} }) of ${limiter.name} ends`,
  );
  acquired.catch(() => {});
  return {
    acquired,
    abort: async () => {
      stop.abort(new Error('aborted by the test'));
      await expect(acquired).rejects.toThrow('aborted by the test');
    },
  };
}

export const HOUR = 3_600_000;
