import { Redis } from 'ioredis';
import type { Parameters } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Answer, Call, Part } from '../../../packages/core/src/call/call.js';
import { ManualClock, memoryStore, type Policy } from '../../../packages/core/src/index.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { limitOf } from '../../support/limit-of.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { RedisAt } from '../simulate/redis-at.js';

/*
 * Stores whose clock the test sets. Memory has an injected clock. A script in Redis gets the moment as an argument instead of the
 * server's TIME: a server with a wrong clock would need a preloaded library, and thus a compiler on every machine that runs the
 * tests. Redis itself uses its clock only to expire keys; see failover.deep.test.ts for that.
 */

export type CallOptions = Partial<Pick<Call, 'operation' | 'wait'>> &
  Partial<Pick<Part, 'cost' | 'at'>> & { readonly override?: Parameters };

/** One key under one policy. The test chooses the moments (µs) of its calls. */
export interface Key {
  ask(now: number, options?: CallOptions): Promise<Answer>;
}

export interface Side {
  readonly name: string;
  key(policy: Policy, name?: string): Key;
  close(): Promise<void>;
}

type Decide = (call: Call, now: number) => Promise<Answer>;

function keyOf(decide: Decide, policy: Policy, key: string): Key {
  const limit = limitOf(compilePolicy(policy));
  return {
    ask: (now, { operation = 'consume', wait = 0, cost = 1, at = 0, override } = {}) =>
      decide({ operation, wait, parts: [{ limit, key, cost, at }], overrides: override && [override] }, now),
  };
}

export function memorySide(): Side {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const decide: Decide = async (call, now) => {
    clock.set(now);
    return store.decide(call);
  };
  return {
    name: 'memory',
    key: (policy, name = uniqueName('clocks')) => keyOf(decide, policy, name),
    close: () => store.close(),
  };
}

export interface RedisSide extends Side {
  readonly redis: Redis;
}

function redisSideOf(redis: Redis, decide: Decide, closeStore = async () => {}): RedisSide {
  return {
    name: 'Redis',
    redis,
    key: (policy, name = uniqueName('clocks')) => keyOf(decide, policy, name),
    async close() {
      await closeStore();
      redis.disconnect();
    },
  };
}

/** @param written called with each key after a decision that may have written it */
export function redisSide(
  url = redisUrl(),
  written: (redis: Redis, key: string) => Promise<unknown> = async () => {},
): RedisSide {
  const redis = new Redis(url);
  const store = storeOnDefaults(redis);
  const decide: Decide = async (call, now) => {
    const [answer] = await store.decideAll([call], now);
    await written(redis, call.parts[0]!.key);
    return answer!;
  };
  return redisSideOf(redis, decide, () => store.close());
}

/**
 * Redis expires no key here, because the script itself removes the TTL. For tests with so little left of a window that its key would expire
 * before the test's clock reaches the end of the window.
 */
export function persistentRedisSide(): RedisSide {
  const redis = new Redis(redisUrl());
  const clock = new ManualClock();
  const store = new RedisAt(redis, clock);
  return redisSideOf(redis, (call, now) => {
    clock.set(now);
    return store.decide(call);
  });
}
