import { Redis } from 'ioredis';
import type { Parameters } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Answer, Call, Part } from '../../../packages/core/src/call/call.js';
import { ManualClock, memoryStore, type Policy } from '../../../packages/core/src/index.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { limitOf } from '../../support/limit-of.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

/*
 * The clock of a store, in the test's hand. Memory has an injected clock. A script in Redis gets the moment as an argument, in place of
 * the server's TIME: a server whose clock is really wrong would need a library preloaded into it, and so a compiler on every
 * machine that runs the tests. Redis itself uses its clock only to expire keys; see failover.deep.test.ts for that.
 */

export type CallOptions = Partial<Pick<Call, 'operation' | 'wait'>> &
  Partial<Pick<Part, 'cost' | 'at'>> & { readonly override?: Parameters };

/** One key under one policy, asked at moments (µs) of the test's choosing. */
export interface Key {
  ask(now: number, asked?: CallOptions): Promise<Answer>;
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

/** @param written told of each key once a call was decided that may have written it */
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
  return {
    name: 'Redis',
    redis,
    key: (policy, name = uniqueName('clocks')) => keyOf(decide, policy, name),
    async close() {
      await store.close();
      redis.disconnect();
    },
  };
}

/**
 * Redis forgets nothing here by its own clock. For tests in which so little may be left of a window that its key would be gone before
 * the test's clock has come to the end of it.
 */
export const persistentRedisSide = (): RedisSide => redisSide(redisUrl(), (redis, key) => redis.persist(key));
