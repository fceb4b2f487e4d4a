-- The notice board of the processes that use a store: a text of each process, and an index of the processes. In a cluster each key has a slot
-- of its own, so each call has one key.
-- KEYS[1]   the text of a process, or the index: a sorted set of processes by the server's time (ms) at which they last published
--           for broadcast: a channel, whose name decides the node
-- ARGV[1]   write (a text) | read (it) | enter (a process into the index) | list (the index) | broadcast (to the subscribers of the channel)
-- ARGV[2]   for write and broadcast: the text; for enter: the process
-- ARGV[3]   for write and enter: how long it is kept, ms
-- Reply: to read the text, '' without one; to list the time (ms) and the age of each process (ms), the latest first: time, process, age, …;
--           to broadcast the number of subscribers of this node. They get the time (ms), a space, and the text.

local key, action, ttl = KEYS[1], ARGV[1], ARGV[3]
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
return reply
