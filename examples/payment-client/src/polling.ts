import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** A sorted set of the moments of the last calls. It only knows whether a call may go now, so a waiting call has to try again and again. */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local start = now - ARGV[2] * 1000
if redis.call('ZCOUNT', KEYS[1], start, '+inf') >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, start)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

const PAUSE_MS = 100;

/** A common way to wait for a limit of `limit` calls in any `window` (ms): try every 100 ms. */
export async function poll(redis: Redis, key: string, limit: number, window: number): Promise<void> {
  while ((await redis.eval(SCRIPT, 1, key, limit, window, randomUUID())) !== 1) await sleep(PAUSE_MS);
}
