-- Decides calls, in order, each over one or several keys: all its parts, or none. With lanes.lua the twin of this folder.
-- A visit is calls in a row that have the same keys: each is read once and written at most once, and if something is wrong with
-- one of them, the calls of this visit fail and no others.
-- KEYS      of each visit, one for each part; for a part without parameters two more: the entry of this client alone, and
--           the shared rate
-- ARGV[1]   the moment in µs, or '' for the server's clock
-- Then, where each key is visited alike, to consume of one rule so much so many times:
--   cost, number of calls, tag of the rule's algorithm, its parameters…
-- or else '', the number of rules, and for each: tag of its algorithm, number of parameters, parameters…; then visits, in one of two forms,
-- where a rule is told by its place in the list:
--   number of visits n, rule, cost, number of calls: n visits of one key each, all different, to consume `cost` so many times
--   0, number of keys, number of calls, and for each: operation, wait (µs), how often, number of parts, and
--     for each part: rule, cost, at, and to override the number of other parameters, those parameters…
-- Reply: now, and for each visit answers until all its calls have one. A number ≥ 0 is what remains to a call that is allowed now, and its reset
--   follows; any other is a word:
--   -1 no shared rate is set
--   -2 what went wrong, as text, for all calls of the visit
--   -3 so many calls in a row are allowed now: how many, remaining after the first, since, owed, price, units, tick. The n-th leaves `cost` × (n - 1)
--      less, and its reset is since + (owed + n × price) / units, rounded up, × tick
--   -4 so many are denied, -5 so many may go and take nothing: how many, wait, remaining, reset
--   -6 denied, -7 allowed, -8 queued: wait; for each part: remaining, wait, reset, at, number of overriding parameters, those
--      and then, for 'traced consume' and 'traced peek', five lists for each part, each as its length and its numbers: the
--      parameters, the state before, the state after, the queue, and the end of the block
-- Moments and times are µs; a wait of -1 never ends. See call.ts for the operations, entry.ts for what a key holds: numbers
-- as eight-byte doubles, a bare state, or after an 'E' a header and all the rest. Each is written with its TTL, or keeps the one
-- that it has when it ends as before.
-- This file is what most calls are: to consume, of one key that holds a bare state or nothing, by an algorithm that has a spend.lua. No function
-- is made for them but that: to make functions costs more than to decide. Whatever is more, or goes wrong, lanes.lua decides, from the beginning.

local MOMENT = 67
local LARGEST = 9007199254740991
-- Keys that one command reads, and the largest number that string.format('%d') takes everywhere: a number as an argument takes twice as long.
local MOST_READ = 100
local LARGEST_LONG = 2147483647
local call, try, keys, arguments, elements = redis.call, redis.pcall, KEYS, ARGV, unpack
local byte, floor, format = string.byte, math.floor, string.format

local function integer(text, least)
  local value = text + 0
  -- NaN fails every comparison, so each must be asked for what it should be.
  if value >= least and value <= LARGEST and value % 1 == 0 then return value end
  error('SLUICE not a whole number from ' .. least .. ' to 2^53-1: ' .. tostring(text))
end

local now = arguments[1]
if now == '' then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = integer(now, 0)
end
-- A nil in a constructor is room for what follows, so that the table does not grow step by step.
-- The last of the replies so far, keys before those of the visit, the last key of the run, and the next argument.
local replies, told, before, last, next, size = { now, nil, nil, nil }, 1, 0, 0, 4, #arguments
local alike = arguments[2] ~= ''

-- How an algorithm decides several equal calls at once, if it knows how: spend(parameters, state, now, cost, count). Returns nothing for
-- whatever is not that simple. Else how many of them can go and are told in one row, what remains after the first, the state after them,
-- when that is forgotten, which is their reset, and since, owed, price, units and tick of the row; or 0, what remains, the wait and the reset.
local rules = { nil }
for i = 1, alike and 1 or integer(arguments[3], 0) do
  local tag, before_first = arguments[next], next
  next = size
  if not alike then
    before_first = before_first + 1
    next = before_first + integer(arguments[before_first], 0)
  end
  local rule = { tag = tag, spend = false, nil, nil, nil, nil, nil, nil, nil }
  for p = before_first + 1, next do rule[p - before_first] = integer(arguments[p], 0) end
  if next > before_first then
    -- @spends
  end
  rules[i] = rule
  next = next + 1
end

local lanes, rule, cost, times
if alike then
  last, rule, cost, times = #keys, rules[1], integer(arguments[2], 0), integer(arguments[3], 1)
end
-- What the keys behind the first `from` hold, up to the key `to`.
local raws, from, to = nil, 0, 0
while last > before or next <= size do
  -- The numbers of visits are looked at before their keys are written.
  if last == before and arguments[next] ~= '0' then
    last = before + integer(arguments[next], 1)
    rule = rules[integer(arguments[next + 1], 1)] or error('SLUICE no such rule')
    cost, times = integer(arguments[next + 2], 0), integer(arguments[next + 3], 1)
    next = next + 4
  end
  local simple = last > before and cost > 0 and rule.spend
  if simple then
    local spend = simple
    if before >= to then
      from, to = before, last
      if to - from == 1 then
        raws = try('GET', keys[to])
        if type(raws) ~= 'table' then raws = { raws } end
      else
        if to - from > MOST_READ then to = from + MOST_READ end
        raws = try('MGET', elements(keys, from + 1, to))
      end
    end
    while simple and before < to do
      local known, raw, done, state, ends = told, raws[before - from + 1], 0, nil, nil
      -- Nothing at all when it could not be read.
      simple = raw == false or (raw and byte(raw) == MOMENT)
      state = raw
      while simple and done < times do
        local count, remaining, after, forgotten, since, owed, price, units, tick =
          spend(rule, state, now, cost, times - done)
        if not count then
          simple = false
        elseif count == 1 then
          replies[told + 1], replies[told + 2] = remaining, forgotten - now
          told, done, state, ends = told + 2, done + 1, after, forgotten
        elseif count > 0 then
          replies[told + 1], replies[told + 2], replies[told + 3], replies[told + 4] = -3, count, remaining, since
          replies[told + 5], replies[told + 6], replies[told + 7], replies[told + 8] = owed, price, units, tick
          told, done, state, ends = told + 8, done + count, after, forgotten
        else
          replies[told + 1], replies[told + 2], replies[told + 3], replies[told + 4], replies[told + 5] =
            -4, times - done, after, remaining, forgotten
          told, done = told + 5, times
        end
      end
      if simple and ends then
        local key, written = keys[before + 1], nil
        if raw and struct.unpack('>d', raw) == ends then
          -- It has its TTL, and no key expires while a script runs.
          written = try('SET', key, state, 'KEEPTTL')
        else
          -- A key is written together with its TTL. One ms more than needed: the entry itself says when it ends, to the µs.
          local life = floor((ends - now) / 1000) + 2
          if life <= LARGEST_LONG then life = format('%d', life) end
          if raw then
            written = try('SET', key, state, 'PX', life)
          else
            -- To MGET a key that holds something else than a string is as good as none.
            written = try('SET', key, state, 'PX', life, 'NX')
          end
        end
        simple = written and written.ok
      end
      if simple then
        before = before + 1
      else
        for n = known + 1, told do replies[n] = nil end
        told = known
      end
    end
  end

  if not simple then
    if not lanes then
      lanes = (function()
        -- @lanes
      end)()
    end
    -- If something is wrong with one of the calls, all calls of its visit fail, and no others.
    local known, fine, wrong, places, calls = told, nil, nil, 1, nil
    if last > before then
      fine, wrong = pcall(lanes.consume, rule, cost, times)
    else
      places, calls, next = lanes.read(next + 1)
      last = before + places
      fine, wrong = pcall(lanes.attend, calls, places)
    end
    if not fine then
      for n = known + 1, told do replies[n] = nil end
      told = known + 2
      -- A table since Redis 7.
      replies[known + 1], replies[told] = -2, type(wrong) == 'table' and wrong.err or wrong
    end
    before = before + places
  end
end
return replies
