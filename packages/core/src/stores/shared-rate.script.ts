// Generated from shared-rate.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const sharedRateScript: Script = {
  name: 'shared-rate',
  sha1: '53660660fe7d59261b5acfc7179aefb873a40e78',
  source: `local function read()
local raw, numbers = redis.call('GET', KEYS[1]), {}
if not raw then return nil end
if #raw < 32 or #raw % 8 ~= 0 then error('SLUICE foreign value in ' .. KEYS[1]) end
for i = 1, #raw / 8 do
local value = struct.unpack('>d', raw, i * 8 - 7)
if not (value >= 0 and value <= 9007199254740991 and value % 1 == 0) then error('SLUICE foreign value in ' .. KEYS[1]) end
numbers[i] = value
end
if numbers[3] > 1 then error('SLUICE foreign value in ' .. KEYS[1]) end
return numbers
end
local function reply(changed, numbers)
local replies = { changed }
if numbers then
for i = 2, #numbers do replies[i] = numbers[i] end
end
return replies
end
local function alive(numbers)
return math.ceil(numbers[2] / 1000)
end
local before = read()
local action = ARGV[2]
if action == 'get' then return reply(0, before) end
if action == 'delete' then
return reply(redis.call('DEL', KEYS[1]))
end
if action == 'update' and not before then return reply(0) end
if action == 'try' and before then
if redis.call('PTTL', KEYS[1]) < alive(before) then
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', alive(before)))
end
return reply(0, before)
end
if action ~= 'try' and action ~= 'set' and action ~= 'update' then error('SLUICE unknown action: ' .. action) end
local now = tonumber(ARGV[1])
if not now then
local time = redis.call('TIME')
now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local numbers = { now }
if action == 'update' then
numbers[1] = before[1]
elseif before then
numbers[1] = math.max(now, before[1] + 1)
end
for i = 3, #ARGV do
local value = tonumber(ARGV[i])
if not (value and value >= 0 and value <= 9007199254740991 and value % 1 == 0) then
error('SLUICE not a whole number from 0 to 2^53-1: ' .. ARGV[i])
end
numbers[i - 1] = value
end
local packed = {}
for i = 1, #numbers do packed[i] = struct.pack('>d', numbers[i]) end
local last = 0
if action == 'update' then last = math.max(0, redis.call('PTTL', KEYS[1]) - alive(before)) end
redis.call('SET', KEYS[1], table.concat(packed), 'PX', string.format('%.0f', last + alive(numbers)))
return reply(1, numbers)`,
};
