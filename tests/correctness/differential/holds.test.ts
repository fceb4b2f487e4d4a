import { Redis } from 'ioredis';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { randomFrom, seedOf } from '../../support/random.js';
import { redisUrl } from '../../support/redis-url.js';
import { holdDifference, holdHistory, holdScript } from './hold-histories.js';

/** With these seeds, these few histories contain every kind of answer. */
const QUICK = 8;

test('Lua holds and settles as TypeScript does', async () => {
  const redis = new Redis(redisUrl());
  const seen = new Set<string>();
  try {
    const sha1 = String(await redis.script('LOAD', holdScript(decideScript.source)));
    for (let run = 0; run < QUICK; run += 1) {
      const steps = holdHistory(randomFrom(seedOf(run)), 40, seen);
      expect(await holdDifference(redis, sha1, steps)).toBeUndefined();
    }
  } finally {
    redis.disconnect();
  }
  expect([...seen]).toEqual(
    expect.arrayContaining([
      ...['hold allowed', 'hold denied', 'hold never', 'settle allowed', 'settle never'],
      ...['keep', 'refund', 'more'],
    ]),
  );
}, 60_000);
