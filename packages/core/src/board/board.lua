-- The notice board of the processes that use a store: a text of each process, and an index of the processes. In a cluster each key has a slot
-- of its own, so each call has one key. Other programs may write to these keys: what is too large is not sent to the reader.
-- KEYS[1]   the text of a process, or the index: a sorted set of processes by the server's time (ms) at which they last published
--           for broadcast: a channel, whose name decides the node
-- ARGV[1]   write (a text) | read (it) | enter (a process into the index) | list (the index) | broadcast (to the subscribers of the channel)
-- ARGV[2]   for write and broadcast: the text; for enter: the process; for read: the most bytes; for list: the most processes
-- ARGV[3]   for write and enter: how long it is kept, ms
-- Reply: to read the text, '' without one, a list of one text that says why it is not sent; to list why not all is sent, '' otherwise, and
--           each process and its age (ms), the latest first; to broadcast the number of subscribers of this node. They get the time
--           (ms), a space, and the text.

local key, action, ttl = KEYS[1], ARGV[1], ARGV[3]
if action == 'write' then
  redis.call('SET', key, ARGV[2], 'PX', ttl)
  return ''
end

-- The name of a process is shorter.
local MOST_NAME = 65

-- The reply of a command that reads; nil and why not if the key is of another type.
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
return reply
