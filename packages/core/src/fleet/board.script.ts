// Generated from board.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const boardScript: Script = {
  name: 'board',
  sha1: '5d9833e015424dca6c89371efd20ef77e45efc24',
  source: `local key, action, ttl = KEYS[1], ARGV[1], ARGV[3]
if action == 'write' then
redis.call('SET', key, ARGV[2], 'PX', ttl)
return ''
end
if action == 'read' then return redis.call('GET', key) or '' end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function text(number) return string.format('%.0f', number) end
if action == 'broadcast' then return text(redis.call('PUBLISH', key, text(now) .. ' ' .. ARGV[2])) end
if action == 'enter' then
redis.call('ZADD', key, text(now), ARGV[2])
redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now - tonumber(ttl)))
redis.call('PEXPIRE', key, ttl)
return ''
end
if action ~= 'list' then error('SLUICE unknown action: ' .. action) end
local index = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
local reply = { text(now) }
for i = #index - 1, 1, -2 do
reply[#reply + 1] = index[i]
reply[#reply + 1] = text(math.max(0, now - tonumber(index[i + 1])))
end
return reply`,
};
