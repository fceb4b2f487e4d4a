// Generated from board.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const boardScript: Script = {
  name: 'board',
  sha1: '6da39254e840f295948f2934a6bde1124d824ea3',
  source: `local key, action, ttl = KEYS[1], ARGV[1], ARGV[3]
if action == 'write' then
redis.call('SET', key, ARGV[2], 'PX', ttl)
return ''
end
local MOST_NAME = 65
local function read(...)
local reply = redis.pcall(...)
if type(reply) ~= 'table' or not reply.err then return reply end
if string.find(reply.err, 'WRONGTYPE', 1, true) then return nil, 'its key has a value of another type' end
return redis.call(...) -- raises the same error
end
if action == 'read' then
local text, problem = read('GET', key)
if problem then return { problem } end
if text and #text > tonumber(ARGV[2]) then return { 'it has ' .. #text .. ' bytes' } end
return text or ''
end
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
local most = tonumber(ARGV[2])
local index, problem = read('ZRANGE', key, -most - 1, -1, 'WITHSCORES')
if problem then return { problem } end
local from = 1
if #index > 2 * most then
from = 3
problem = 'it has more than ' .. most .. ' processes'
end
local reply = { problem or '' }
for i = #index - 1, from, -2 do
reply[#reply + 1] = string.sub(index[i], 1, MOST_NAME)
reply[#reply + 1] = text(math.max(0, now - tonumber(index[i + 1])))
end
return reply`,
};
