import type { Redis } from 'ioredis';
import type { Answer, Call } from '../../../packages/core/src/call/call.js';
import type { Clock } from '../../../packages/core/src/clock.js';
import { written } from '../../../packages/core/src/stores/redis/wire.js';
import type { Store } from '../../../packages/core/src/stores/store.js';
import { answersOf, batchOf, WITHOUT_EXPIRY } from '../differential/replay.js';

/** A store that sends its calls one by one to a real Redis, at the moments of another clock. */
export class RedisAt implements Store {
  readonly name = 'redis';
  readonly remote = false;
  readonly slotted = false;
  #sha1: Promise<unknown> | undefined;

  constructor(
    readonly redis: Redis,
    readonly clock: Clock,
  ) {}

  async decide(call: Call): Promise<Answer> {
    const now = this.clock.now();
    const batch = batchOf([call]);
    const { keys, args } = written(batch, now);
    this.#sha1 ??= this.redis.script('LOAD', WITHOUT_EXPIRY);
    const sha1 = String(await this.#sha1);
    const answers = answersOf(batch, await this.redis.evalsha(sha1, keys.length, ...keys, ...args));
    return (await answers)[0]!;
  }

  async listen(): Promise<() => void> {
    return () => {};
  }

  rate(): Promise<never> {
    throw new Error('rules have no shared rates');
  }

  async close(): Promise<void> {}
}
