const WEEK_MS = 7 * 86_400_000;

/** Sets the rate of a limiter, once, as `trySetRate` does. */
const TRY_SET_RATE = `redis.call('hsetnx', KEYS[1], 'rate', ARGV[1])
redis.call('hsetnx', KEYS[1], 'interval', ARGV[2])
return redis.call('hsetnx', KEYS[1], 'type', ARGV[3])`;

/**
 * What Redisson's RRateLimiter does for `tryAcquire`, command by command: the rate in a hash, the permits left in a string, and
 * the taken permits in a sorted set. Replies nil, or the ms to wait.
 */
const TRY_ACQUIRE = `local rate = redis.call('hget', KEYS[1], 'rate')
local interval = redis.call('hget', KEYS[1], 'interval')
local type = redis.call('hget', KEYS[1], 'type')
assert(rate and interval and type, 'not initialized')
local cost, now = tonumber(ARGV[1]), tonumber(ARGV[2])
local left = redis.call('get', KEYS[2])
local wait
if not left then
  redis.call('set', KEYS[2], rate)
  left = rate
else
  local expired = redis.call('zrangebyscore', KEYS[3], 0, now - interval)
  local released = 0
  for _, value in ipairs(expired) do
    local _, permits = struct.unpack('Bc0I', value)
    released = released + permits
  end
  if released > 0 then
    redis.call('zremrangebyscore', KEYS[3], 0, now - interval)
    left = math.min(tonumber(left) + released, tonumber(rate))
    redis.call('set', KEYS[2], left)
  end
end
if tonumber(left) < cost then
  local first = redis.call('zrange', KEYS[3], 0, 0, 'withscores')
  wait = 3 + interval - (now - tonumber(first[2]))
else
  redis.call('zadd', KEYS[3], ARGV[2], struct.pack('Bc0I', #ARGV[3], ARGV[3], cost))
  redis.call('decrby', KEYS[2], cost)
end
local keep = redis.call('hget', KEYS[1], 'keepAliveTime')
if not keep then
  local ttl = redis.call('pttl', KEYS[1])
  if ttl > 0 then
    redis.call('pexpire', KEYS[2], ttl)
    redis.call('pexpire', KEYS[3], ttl)
  end
end
return wait`;

/** The commands of Redisson's script, over ioredis, because Redisson itself is Java. */
export const redisson = [
  {
    id: 'redisson',
    name: 'Redisson-like script',
    where: 'redis',
    create: (limit, { open, prefix }) => {
      const client = open();
      client.defineCommand('trySetRate', { numberOfKeys: 1, lua: TRY_SET_RATE });
      client.defineCommand('tryAcquire', { numberOfKeys: 3, lua: TRY_ACQUIRE });
      const known = new Set();
      let calls = 0;
      return async (key) => {
        const name = `{${prefix}:${key}}`;
        if (!known.has(name)) {
          known.add(name);
          await client.trySetRate(name, limit, WEEK_MS, 0);
        }
        // Each call has its own id: equal ids would be one member of the set.
        const id = (calls++).toString(36).padStart(16, '0');
        return (
          (await client.tryAcquire(name, `${name}:value`, `${name}:permits`, 1, Date.now(), id)) === null
        );
      };
    },
  },
];
