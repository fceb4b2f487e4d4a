-- Decides calls, in order, each over one or several keys: all its parts, or none. The twin of this folder.
-- KEYS      for each part of each call: where its entry lives; for a part with no parameters two more: the entry of this
--           client alone, and the shared rate
-- ARGV[1]   the moment in µs, or '' for the server's clock
-- then for each call: operation, wait (µs), number of parts, and
--   for each part: tag of its algorithm, cost, at, number of parameters, parameters…, and to override the same of others
-- Reply: for each call: 1 allowed, 2 queued, 0 denied, -1 no shared rate is set; now; wait; and
--   for each part: remaining, wait, reset, at, number of overriding parameters, those parameters…
-- Moments and times are µs; a wait of -1 never ends. See call.ts for the operations, entry.ts for what a key holds: numbers
-- as eight-byte doubles, a bare state, or after an 'E' a header and all the rest. Each is written with its TTL.
-- lanes.lua is the larger part of it.

local NEVER = -1
local ANY = -1
local LARGEST = 9007199254740991
local LONGEST = 315360000000000
-- µs: a clock that goes back by no more trembles; see algorithm.ts.
local JITTER = 10000
-- First bytes: of a moment after 1987 in µs, with which each state begins, and an E.
local MOMENT = 67
local ENVELOPE = 69

local call, pack, unpack = redis.call, struct.pack, struct.unpack
local replies = {}

local function number(state, i)
  return (unpack('>d', state, i * 8 - 7))
end

-- math.fmod is exact up to 2^53; a - floor(a / b) * b, which Lua's % does, is not.
local function up(a, b)
  local rest = math.fmod(a, b)
  if rest > 0 then return (a - rest) / b + 1 end
  return a / b
end

local function integer(text, least)
  local value = tonumber(text)
  -- NaN fails every comparison, so each must be asked for what it should be.
  if value and value >= least and value <= LARGEST and value % 1 == 0 then return value end
  error('SLUICE not a whole number from ' .. least .. ' to 2^53-1: ' .. tostring(text))
end

local function algorithm_of(tag)
  -- @algorithms
  error('SLUICE unknown algorithm: ' .. tostring(tag))
end

local function live(state, at)
  if state and number(state, 1) > at then return state end
  return nil
end

-- Writes a key together with its TTL. One ms more than needed: the entry itself says when it ends, to the µs.
local function write(key, entry, forgotten, now)
  if forgotten > now then
    call('SET', key, entry, 'PX', string.format('%.0f', math.floor((forgotten - now) / 1000) + 2))
  else
    call('DEL', key)
  end
end

local function unpacked(packed)
  local numbers = {}
  for i = 1, #packed / 8 do numbers[i] = number(packed, i) end
  return numbers
end

local function lanes_of()
  -- @lanes
end

-- The same for what most calls are: one part, whose key holds a bare state or nothing, and nothing to book. False when it is another.
local function bare(part, operation, now)
  local algorithm, p, cost, taking = part.algorithm, part.parameters, part.cost, operation ~= 'peek'
  if taking and operation ~= 'consume' and operation ~= 'acquire' then return false end
  if algorithm.promote or part.shared then return false end
  local raw = call('GET', part.key)
  part.raw = raw
  local state, changed = nil, false
  if raw then
    if string.byte(raw) ~= MOMENT or #raw % 8 ~= 0 then return false end
    state = live(raw, now)
  end
  if state then
    state = algorithm.repair(p, raw, now)
    if state ~= raw then state, changed = live(state, now), true end
  elseif algorithm.see then
    state = algorithm.see(p, now)
    changed = taking and state ~= nil
  end

  local ask = operation == 'acquire' and algorithm.due or algorithm.wait
  local wait, verdict, at = ask(p, state, now, cost), 0, 0
  if wait > 0 and operation == 'acquire' then return false end
  if wait == 0 then
    verdict = 1
    if taking and cost > 0 then state, changed, at = algorithm.take(p, state, now, cost), true, now end
  end
  if changed then write(part.key, state, state and number(state, 1) or 0, now) end

  local remaining, reset = algorithm.left(p, state, now)
  local n = #replies
  replies[n + 1], replies[n + 2], replies[n + 3], replies[n + 4] = verdict, now, wait, remaining
  replies[n + 5], replies[n + 6], replies[n + 7], replies[n + 8] = wait, reset, at, 0
  return true
end

-- A part without parameters: they are in Redis, as [era, µs to keep it alive, per client, parameters…]; see shared-rate.lua.
local function shared_rate(part, client, config)
  local raw = call('GET', config)
  if not raw then return false end
  if #raw < 32 or #raw % 8 ~= 0 then error('SLUICE foreign value in ' .. config) end
  local numbers = unpacked(raw)
  if numbers[3] ~= 0 and numbers[3] ~= 1 then error('SLUICE foreign value in ' .. config) end
  part.shared = { key = config, era = numbers[1], keep_alive = numbers[2] }
  if numbers[3] == 1 then part.key = client end
  for i = 4, #numbers do part.parameters[i - 3] = numbers[i] end
  return true
end

local now
if ARGV[1] == '' then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
else
  now = integer(ARGV[1], 0)
end

local algorithms, lanes = {}, nil
local key, next = 1, 2
while next <= #ARGV do
  local operation, wait, count = ARGV[next], integer(ARGV[next + 1], 0), integer(ARGV[next + 2], 1)
  next = next + 3
  local parts, shared = {}, true
  -- Every number is looked at before the first key is written.
  for i = 1, count do
    local tag, size = ARGV[next], integer(ARGV[next + 3], 0)
    local algorithm = algorithms[tag] or algorithm_of(tag)
    algorithms[tag] = algorithm
    local part = {
      key = KEYS[key], algorithm = algorithm, cost = integer(ARGV[next + 1], 0), at = integer(ARGV[next + 2], ANY),
      parameters = {},
    }
    for p = 1, size do part.parameters[p] = integer(ARGV[next + 3 + p], 0) end
    if size == 0 then
      shared = shared_rate(part, KEYS[key + 1], KEYS[key + 2])
      key = key + 2
    end
    next = next + 4 + size
    if operation == 'override' then
      local others = integer(ARGV[next], 0)
      part.override = {}
      for p = 1, others do part.override[p] = integer(ARGV[next + p], 0) end
      next = next + 1 + others
    end
    key = key + 1
    parts[i] = part
  end
  if not shared then
    local n = #replies
    replies[n + 1], replies[n + 2], replies[n + 3] = -1, now, 0
  elseif count > 1 or not bare(parts[1], operation, now) then
    lanes = lanes or lanes_of()
    lanes(operation, wait, parts, now)
  end
end
return replies
