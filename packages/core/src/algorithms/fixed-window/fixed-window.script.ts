// Generated from fixed-window.lua and frame.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithm.js';

export const fixedWindowScript: Script = {
  name: 'fixed-window',
  sha1: 'e17aa6220c0f494cc6d7318ecf4ef10e17acc814',
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
local function keep(last, used, window, now)
if last - window > now then return { last, used, now } end
return { last, used }
end
local function step(parameters, state, now, operation, cost, bound)
local limit, window = parameters[1], parameters[2]
local last, used, kept = now + window, 0, state
if state and state[1] > now then
local seen = state[3]
if seen then
last = state[1] - math.max(0, seen - now)
else
last = math.min(state[1], last)
end
used = state[2]
if last ~= state[1] then kept = keep(last, used, window, now) end
end
local allowed, wait = true, 0
if operation == 'refund' then
if used > 0 and bound < last and bound >= last - window then
used = math.max(0, used - cost)
if used == 0 and last - window > now then
last = last - window
used = limit
end
if used == 0 then kept = nil else kept = keep(last, used, window, now) end
end
elseif cost > limit then
allowed, wait = false, NEVER
else
local fits = used + cost <= limit
if fits then wait = math.max(0, last - window - now) else wait = last - now end
allowed = wait <= bound
if allowed and operation == 'consume' and cost > 0 then
if fits then
used = used + cost
else
last = last + window
used = cost
end
kept = keep(last, used, window, now)
end
end
local remaining, reset = 0, 0
if last - window <= now then remaining = math.max(0, limit - used) end
if used > 0 then reset = last - now end
return kept, allowed, remaining, wait, reset
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
