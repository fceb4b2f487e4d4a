-- Decides calls that share an algorithm, each on its own key, in order.
-- KEYS[i]   where call i keeps its state
-- ARGV[1]   the moment in µs, or '' for the server's clock
-- ARGV[2]   how many parameters a policy has
-- then for each call: operation (consume | peek | refund), cost, bound (longest wait, or for a refund the moment the
--           permits were due), parameters…
-- Reply: five integers for each call: allowed (1 or 0), permits remaining, wait in µs (-1: never), reset in µs, now in µs.
-- A state is whole numbers joined by spaces, the first the moment from which it is worth nothing; its key's TTL ends then.

local NEVER = -1
local LARGEST = 9007199254740991

local function integer(text)
  local number = tonumber(text)
  -- NaN fails every comparison, so each must be asked for what it should be.
  if number and number >= 0 and number <= LARGEST and number % 1 == 0 then return number end
  error('SLUICE not a whole number from 0 to 2^53-1: ' .. tostring(text))
end

local function load(key)
  local raw = redis.call('GET', key)
  if not raw then return nil end
  if not string.find(raw, '^%d[%d ]*$') then error('SLUICE foreign value in ' .. key) end
  local state = {}
  for number in string.gmatch(raw, '%d+') do state[#state + 1] = tonumber(number) end
  return state
end

local function save(key, state, now)
  if not state then return redis.call('DEL', key) end
  -- tostring and .. keep 14 digits only, which is too few for a moment in µs.
  local numbers = {}
  for i = 1, #state do numbers[i] = string.format('%.0f', state[i]) end
  -- One ms more than needed: the state itself says when it ends, to the µs.
  local ttl = math.floor((state[1] - now) / 1000) + 2
  redis.call('SET', key, table.concat(numbers, ' '), 'PX', string.format('%.0f', ttl))
end

-- @step

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
return replies
