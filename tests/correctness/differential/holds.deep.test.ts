import { Redis } from 'ioredis';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { randomFrom, seedOf } from '../../support/random.js';
import { redisUrl } from '../../support/redis-url.js';
import { holdDifference, holdHistory, holdScript } from './hold-histories.js';
import { DEEP_RUNS } from './runs.js';

test(`Lua holds and settles as TypeScript does, over ${DEEP_RUNS} histories`, async () => {
  const redis = new Redis(redisUrl());
  try {
    const sha1 = String(await redis.script('LOAD', holdScript(decideScript.source)));
    for (let run = 0; run < DEEP_RUNS; run += 1) {
      const steps = holdHistory(randomFrom(seedOf(1_000 + run)), 40, new Set());
      expect(await holdDifference(redis, sha1, steps)).toBeUndefined();
    }
  } finally {
    redis.disconnect();
  }
}, 3_600_000);
