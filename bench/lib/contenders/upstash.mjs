import { createHash } from 'node:crypto';
import { Ratelimit } from '@upstash/ratelimit';

/**
 * @upstash/ratelimit with its own scripts and its local cache of denied keys, over ioredis. Its own client uses HTTP, which would be
 * measured instead of the library. The scripts begin with a flag that only Upstash's server knows. They are loaded without that line,
 * and called by their new hash.
 */
function overIoredis(client) {
  const loaded = new Map();
  const evalsha = (hash, keys, args) =>
    client.evalsha(loaded.get(hash) ?? hash, keys.length, ...keys, ...args);
  return {
    evalsha,
    // Called when the server does not know the hash.
    eval: async (script, keys, args) => {
      const hash = createHash('sha1').update(script).digest('hex');
      loaded.set(hash, await client.script('LOAD', script.replace(/^#!lua flags=allow-key-locking\n/, '')));
      return evalsha(hash, keys, args);
    },
  };
}

const contender = (id, name, limiterOf) => ({
  id,
  name,
  where: 'redis',
  create: (limit, { open, prefix }) => {
    const limiter = new Ratelimit({
      redis: overIoredis(open()),
      limiter: limiterOf(limit),
      prefix,
      enableTelemetry: false,
    });
    return async (key) => {
      const { success, reason } = await limiter.limit(key);
      if (reason === 'timeout') throw new Error(`${name}: no answer in time`);
      return success;
    };
  },
});

export const upstash = [
  contender('upstash-window', '@upstash/ratelimit, fixedWindow', (limit) =>
    Ratelimit.fixedWindow(limit, '7 d'),
  ),
  contender('upstash-bucket', '@upstash/ratelimit, tokenBucket', (limit) =>
    Ratelimit.tokenBucket(1, '7 d', limit),
  ),
];
