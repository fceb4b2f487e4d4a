import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';

const WEEK_S = 7 * 86_400;

/** Two commands instead of the three of its own script: a `customIncrTtlLuaScript` may leave out the SET NX. */
const LEAN_SCRIPT = `local consumed = redis.call('incrby', KEYS[1], ARGV[1])
if consumed == tonumber(ARGV[1]) then
  redis.call('expire', KEYS[1], ARGV[2])
  return {consumed, 1000 * ARGV[2]}
end
return {consumed, redis.call('pttl', KEYS[1])}`;

/** It rejects with its answer if it denies, and with an Error if the call failed. */
const verdicts = [
  () => true,
  (answer) => {
    if (answer instanceof Error) throw answer;
    return false;
  },
];

const onRedis = (id, name, options = () => ({})) => ({
  id,
  name,
  where: 'redis',
  create: (limit, { open, prefix }) => {
    const limiter = new RateLimiterRedis({
      points: limit,
      duration: WEEK_S,
      storeClient: open(),
      keyPrefix: prefix,
      ...options(limit),
    });
    return (key) => limiter.consume(key).then(...verdicts);
  },
});

export const rateLimiterFlexible = [
  onRedis('flexible', 'rate-limiter-flexible'),
  // The same once more: its distance from 1.00 is the distance to expect between two equal contenders.
  onRedis('flexible-again', 'rate-limiter-flexible, once more'),
  onRedis('flexible-fastest', 'rate-limiter-flexible, fastest settings', (limit) => ({
    inMemoryBlockOnConsumed: limit,
    customIncrTtlLuaScript: LEAN_SCRIPT,
  })),
  {
    id: 'flexible-memory',
    name: 'rate-limiter-flexible, RateLimiterMemory',
    where: 'memory',
    storedKey: (key, prefix) => `${prefix}:${key}`,
    create: (limit, { prefix }) => {
      const limiter = new RateLimiterMemory({ points: limit, duration: WEEK_S, keyPrefix: prefix });
      return (key) => limiter.consume(key).then(...verdicts);
    },
  },
];
