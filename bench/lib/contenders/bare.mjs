const WEEK_US = 7 * 86_400_000_000;

/** GCRA with the fewest commands: TIME, GET, SET PX. ARGV: µs between permits, tolerance in µs. */
const GCRA = `local time = redis.call('TIME')
local now = time[1] * 1e6 + time[2]
local tat = tonumber(redis.call('GET', KEYS[1]) or now)
if tat < now then tat = now end
local ahead = tat + ARGV[1] - now
if ahead > tonumber(ARGV[2]) then return math.ceil(ahead - ARGV[2]) end
redis.call('SET', KEYS[1], string.format('%.0f', tat + ARGV[1]), 'PX', math.ceil(ahead / 1000))
return 0`;

/** Not limiters to use: they show the cost of one command, and of one script, with ioredis. */
export const bare = [
  {
    id: 'incr',
    name: 'plain INCR',
    where: 'redis',
    create: (limit, { open, prefix }) => {
      const client = open();
      return async (key) => (await client.incr(`${prefix}:${key}`)) <= limit;
    },
  },
  {
    id: 'evalsha',
    name: 'bare EVALSHA (GCRA)',
    where: 'redis',
    create: (limit, { open, prefix }) => {
      const client = open();
      client.defineCommand('gcra', { numberOfKeys: 1, lua: GCRA });
      const interval = Math.ceil(WEEK_US / limit);
      return async (key) => (await client.gcra(`${prefix}:${key}`, interval, WEEK_US)) === 0;
    },
  },
];
