-- Decides calls, in order, each over one or several keys: all its parts, or none. The twin of this folder.
-- A visit is calls in a row that have the same keys: each is read once and written at most once, and if something is wrong with
-- one of them, the calls of this visit fail and no others.
-- KEYS      of each visit, one for each part; for a part without parameters two more: the entry of this client alone, and
--           the shared rate
-- ARGV[1]   the moment in µs, or '' for the server's clock
-- ARGV[2]   number of rules, and for each: tag of its algorithm, number of parameters, parameters…
-- then visits, in one of two forms; a rule is told by its place in the list:
--   number of visits n, rule, cost, number of calls: n visits of one key each, to consume `cost` so many times
--   0, number of keys, number of calls, and for each: operation, wait (µs), how often, number of parts, and
--     for each part: rule, cost, at, and to override the number of other parameters, those parameters…
-- Reply: now, and for each visit answers until all its calls have one; each begins with a word:
--   1 allowed, now: remaining, reset
--   2 so many calls in a row are: how many, remaining, reset, by how much both grow from one to the next
--   0 so many are denied, 3 so many may go and take nothing: how many, wait, remaining, reset
--   4 denied, 5 allowed, 6 queued: wait; for each part: remaining, wait, reset, at, number of overriding parameters, those
--   -1 no shared rate is set
--   -2 what went wrong, as text, for all calls of the visit
-- Moments and times are µs; a wait of -1 never ends. See call.ts for the operations, entry.ts for what a key holds: numbers
-- as eight-byte doubles, a bare state, or after an 'E' a header and all the rest. Each is written with its TTL.
-- This file is what most calls are: to consume, of one key that holds a bare state or nothing. Few functions are made for them, for to make
-- them costs as much as they do; lanes.lua is all the rest.

local MOMENT = 67
local LARGEST = 9007199254740991
local call, pack, unpack, byte, floor, fmod = redis.call, struct.pack, struct.unpack, string.byte, math.floor, math.fmod
local keys, arguments = KEYS, ARGV
-- The last of the replies so far, and of those to whole visits; keys before those of the visit.
local replies, told, known, before = {}, 1, 1, 0

local function integer(text, least)
  local value = tonumber(text)
  -- NaN fails every comparison, so each must be asked for what it should be.
  if value and value >= least and value <= LARGEST and value % 1 == 0 then return value end
  error('SLUICE not a whole number from ' .. least .. ' to 2^53-1: ' .. tostring(text))
end

-- math.fmod is exact up to 2^53; a - floor(a / b) * b, which Lua's % does, is not.
local function up(a, b)
  local rest = fmod(a, b)
  if rest > 0 then return (a - rest) / b + 1 end
  return a / b
end

-- How an algorithm decides several equal calls at once, if it knows how: function(parameters, state, now, cost, count). Returns how many of
-- them can go and are told by equal steps, at least one, or 0 for whatever is not that simple; then the state after them, when it is
-- forgotten, what is left after the first of them (remaining, reset), and by how much that grows from one to the next.
local function spend_of(tag)
  -- @spends
  return false
end

-- So many calls in a row are allowed: what is left after the first, and by how much that grows from one to the next.
local function allow(count, remaining, reset, fewer, later)
  if count == 1 then
    replies[told + 1], replies[told + 2], replies[told + 3] = 1, remaining, reset
    told = told + 3
  else
    replies[told + 1], replies[told + 2], replies[told + 3], replies[told + 4], replies[told + 5], replies[told + 6] =
      2, count, remaining, reset, fewer, later
    told = told + 6
  end
end

local now, next, rules = nil, 3, {}
if arguments[1] == '' then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
else
  now = integer(arguments[1], 0)
end
replies[1] = now
for i = 1, integer(arguments[2], 0) do
  local rule = { tag = arguments[next] }
  local size = integer(arguments[next + 1], 0)
  for p = 1, size do rule[p] = integer(arguments[next + 1 + p], 0) end
  rule.spend = size > 0 and spend_of(rule.tag)
  rules[i] = rule
  next = next + 2 + size
end

local function rule_of(place)
  return rules[tonumber(place)] or error('SLUICE no such rule: ' .. tostring(place))
end

local lanes
local function lanes_of()
  -- @lanes
end

-- Visits of one key each, to consume `cost` so many times, up to the key `last`.
local function consume(rule, cost, times, last)
  local spend = cost > 0 and rule.spend
  while before < last do
    known = told
    local key = keys[before + 1]
    local raw, done, ends = call('GET', key), 0, nil
    local state = raw
    if spend and (not raw or (byte(raw) == MOMENT and #raw % 8 == 0)) then
      local count, after, forgotten, remaining, reset, fewer, later = spend(rule, raw, now, cost, times)
      while count > 0 do
        allow(count, remaining, reset, fewer, later)
        done, state, ends = done + count, after, forgotten
        if done == times then break end
        count, after, forgotten, remaining, reset, fewer, later = spend(rule, state, now, cost, times - done)
      end
    end
    if done == times then
      -- A key is written together with its TTL. One ms more than needed: the entry itself says when it ends, to the µs.
      call('SET', key, state, 'PX', floor((ends - now) / 1000) + 2)
    else
      lanes = lanes or lanes_of()
      lanes.consume(rule, cost, times - done, state, ends)
    end
    before = before + 1
  end
end

-- If something is wrong with one of the calls, all calls of its visit fail, and no others.
local function fail(wrong)
  for n = known + 1, told do replies[n] = nil end
  told = known + 2
  -- A table since Redis 7.
  replies[known + 1], replies[told] = -2, type(wrong) == 'table' and wrong.err or wrong
end

-- The numbers of a visit are looked at before its keys are written.
local size = #arguments
while next <= size do
  local count = integer(arguments[next], 0)
  if count > 0 then
    local rule, cost, times = rule_of(arguments[next + 1]), integer(arguments[next + 2], 0), integer(arguments[next + 3], 1)
    next = next + 4
    local last = before + count
    while before < last do
      local fine, wrong = pcall(consume, rule, cost, times, last)
      if not fine then
        fail(wrong)
        before = before + 1
      end
    end
  else
    lanes = lanes or lanes_of()
    local places, calls
    places, calls, next = lanes.read(next + 1)
    known = told
    local fine, wrong = pcall(lanes.attend, calls, places)
    if not fine then fail(wrong) end
    before = before + places
  end
end
return replies
