import { Redis } from 'ioredis';
import {
  CombinedLimiter,
  concurrency,
  type FailurePolicy,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  RateLimiter,
  type RedisClient,
  recommendedRedisOptions,
  redisStore,
  SharedLimiter,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';

/** How a limiter answers while its store is out; `thrown`: it rejects with the error. */
export type Stand = 'local' | 'allow' | 'deny' | 'thrown';

export interface Limit {
  readonly limiter: RateLimiter;
  readonly stand: Stand;
}

const POLICIES: Readonly<Record<string, Policy>> = {
  fixedWindow: fixedWindow({ limit: 20, window: '300ms' }),
  calendar: fixedWindow({ limit: 30, window: '1m', align: 'clock' }),
  slidingWindow: slidingWindow({ limit: 20, window: '500ms', slots: 10 }),
  slidingLog: slidingLog({ limit: 20, window: '400ms' }),
  tokenBucket: tokenBucket({ capacity: 10, refill: 3, every: '100ms' }),
  batches: tokenBucket({ capacity: 10, refill: 5, every: '200ms', mode: 'interval' }),
  gcra: gcra({ limit: 10, period: '300ms', burst: 5 }),
  leakyBucket: leakyBucket({ capacity: 6, leak: 5, every: '200ms' }),
};

const FAILURE_POLICIES: Readonly<Record<Stand, FailurePolicy>> = {
  local: 'local',
  allow: 'allow',
  deny: () => 'deny',
  thrown: ({ error }) => {
    throw error;
  },
};
const FIXED_LIMITS = Object.keys(FAILURE_POLICIES) as Stand[];

export const DEADLINE = 100;

/** Every kind of limiter, on a store with its own client and on one with a borrowed client; and one for a guest without rights. */
export function openLimits(url: string, guestUrl: string) {
  const client = new Redis(url, { ...recommendedRedisOptions, disconnectTimeout: 0 });
  client.on('error', () => undefined);
  const listenersBefore = listenersOn(client);
  const own = redisStore(url);
  const borrowing = redisStore(client as RedisClient);
  const guests = redisStore(guestUrl);
  const names = Object.keys(POLICIES);

  const rates = names.flatMap((name, i): Limit[] => {
    // Each algorithm in both stores, with two failure policies of the four.
    return [own, borrowing].map((store, j) => {
      const stand = FIXED_LIMITS[(i + 2 * j) % FIXED_LIMITS.length]!;
      const failurePolicy = FAILURE_POLICIES[stand];
      const options = { name: `${name}-${stand}`, policy: POLICIES[name]!, deadline: DEADLINE };
      return { limiter: new RateLimiter({ ...options, store, failurePolicy }), stand };
    });
  });
  const limiterOf = (name: string, policy: Policy, failurePolicy: FailurePolicy = 'local') =>
    new RateLimiter({ name, policy, store: own, failurePolicy, deadline: DEADLINE });
  const quarter = { local: { share: 0.25 } };
  rates.push({ limiter: limiterOf('a-quarter', POLICIES.gcra!, quarter), stand: 'local' });
  rates.push({
    limiter: new RateLimiter({
      name: 'several',
      policies: { short: POLICIES.slidingLog!, long: POLICIES.calendar! },
      store: borrowing,
      deadline: DEADLINE,
    }),
    stand: 'local',
  });
  const slots = limiterOf('slots', concurrency({ limit: 4, lease: '600ms' }));
  const perUser = limiterOf('per-user', POLICIES.tokenBucket!);
  const everybody = limiterOf('everybody', POLICIES.fixedWindow!);
  const combined = new CombinedLimiter({ perUser, everybody, slots });
  const shared = new SharedLimiter({ name: 'shared', store: borrowing, deadline: DEADLINE });
  const guest = new RateLimiter({
    name: 'guest',
    policy: POLICIES.gcra!,
    store: guests,
    failurePolicy: 'allow',
    deadline: DEADLINE,
  });
  const limiters = [
    ...rates.map(({ limiter }) => limiter),
    slots,
    perUser,
    everybody,
    combined,
    shared,
    guest,
  ];

  return {
    rates,
    slots,
    combined,
    shared,
    guest,
    stores: [own, borrowing, guests],
    /** @returns the number of additional listeners on the borrowed client */
    async close(): Promise<number> {
      await Promise.all(limiters.map((limiter) => limiter.close()));
      for (const store of [own, borrowing, guests]) await store.close();
      const more = listenersOn(client) - listenersBefore;
      client.disconnect();
      return more;
    },
  };
}

export type Limits = ReturnType<typeof openLimits>;

const listenersOn = (client: Redis): number =>
  client.eventNames().reduce((sum, event) => sum + client.listenerCount(event), 0);
