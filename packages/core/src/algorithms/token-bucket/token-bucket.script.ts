// Generated from token-bucket.lua and frame.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithm.js';

export const tokenBucketScript: Script = {
  name: 'token-bucket',
  sha1: '491c87ea31a6b59b83752c884af4e79088feb361',
  source: `local NEVER = -1
local LARGEST = 9007199254740991
local function integer(text)
local number = tonumber(text)
if number and number >= 0 and number <= LARGEST and number % 1 == 0 then return number end
error('SLUICE not a whole number from 0 to 2^53-1: ' .. tostring(text))
end
local function load(key)
local raw = redis.call('GET', key)
if not raw then return nil end
if not string.find(raw, '^%d[%d ]*\$') then error('SLUICE foreign value in ' .. key) end
local state = {}
for number in string.gmatch(raw, '%d+') do state[#state + 1] = tonumber(number) end
return state
end
local function save(key, state, now)
if not state then return redis.call('DEL', key) end
local numbers = {}
for i = 1, #state do numbers[i] = string.format('%.0f', state[i]) end
local ttl = math.floor((state[1] - now) / 1000) + 2
redis.call('SET', key, table.concat(numbers, ' '), 'PX', string.format('%.0f', ttl))
end
local function up(a, b)
local rest = math.fmod(a, b)
if rest > 0 then return (a - rest) / b + 1 end
return a / b
end
local function keep(debt, per_micro, full, now)
if debt == 0 then return nil end
local ahead = up(debt, per_micro)
local late = ahead * per_micro - debt
if debt > full then return { now + ahead, late, now } end
if late > 0 then return { now + ahead, late } end
return { now + ahead }
end
local function step(parameters, state, now, operation, cost, bound)
local per_permit, per_micro, full = parameters[1], parameters[2], parameters[3]
local debt, kept = 0, state
if state and state[1] > now then
local seen, skew, most = state[3], 0, full
if seen then
skew = math.max(0, seen - now)
most = LARGEST
end
local owed = (state[1] - skew - now) * per_micro - (state[2] or 0)
debt = math.min(math.max(0, owed), most)
if skew > 0 or debt ~= owed then kept = keep(debt, per_micro, full, now) end
end
local allowed, wait, price = true, 0, cost * per_permit
if operation == 'refund' then
if debt > 0 then
local since = debt - (full + (bound - now) * per_micro)
local back = price
if since > 0 then back = math.max(0, price - since - (per_micro - 1)) end
debt = math.max(0, debt - back)
kept = keep(debt, per_micro, full, now)
end
elseif price > full then
allowed, wait = false, NEVER
else
wait = up(math.max(0, debt + price - full), per_micro)
allowed = wait <= bound
if allowed and operation == 'consume' and cost > 0 then
debt = debt + price
kept = keep(debt, per_micro, full, now)
end
end
local left = math.max(0, full - debt)
return kept, allowed, (left - math.fmod(left, per_permit)) / per_permit, wait, up(debt, per_micro)
end
local now
if ARGV[1] == '' then
local time = redis.call('TIME')
now = tonumber(time[1]) * 1000000 + tonumber(time[2])
else
now = integer(ARGV[1])
end
local count = integer(ARGV[2])
local replies = {}
for i = 1, #KEYS do
local first = 3 + (i - 1) * (count + 3)
local operation, cost, bound = ARGV[first], integer(ARGV[first + 1]), integer(ARGV[first + 2])
local parameters = {}
for p = 1, count do parameters[p] = integer(ARGV[first + 2 + p]) end
local state = load(KEYS[i])
local kept, allowed, remaining, wait, reset = step(parameters, state, now, operation, cost, bound)
if kept ~= state and operation ~= 'peek' then save(KEYS[i], kept, now) end
local reply = #replies
replies[reply + 1] = allowed and 1 or 0
replies[reply + 2] = remaining
replies[reply + 3] = wait
replies[reply + 4] = reset
replies[reply + 5] = now
end
return replies`,
};
