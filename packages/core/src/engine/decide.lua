-- Decides calls, in order, each over one or several keys: all its parts, or none.
-- A group is calls in a row that have the same keys. Each key is read once and written at most once. If something is wrong with one of the
-- calls, the calls of its group fail and no others. Moments and times are µs; a wait of -1 never ends.
-- See operation.ts for the operations, entry.lua for what a key holds.
--
-- KEYS, for each group and each part:
--   the key of the part
--   the entry of this client    for a part without parameters, whose rate is shared
--   the shared rate             for the same
--   the escalation              for a part with one: see escalation.lua
-- Without any KEYS, ARGV begins with the number of keys and the keys. Those may lie in any slot of this cluster node. A group with a key of
-- another node is not decided, and nothing of it is written: ELSEWHERE.
--
-- ARGV
--   moment                      '': the server's clock; 'packed': the same, and the reply is one text, by cmsgpack
-- where the calls of all groups are alike, and consume the same cost of one rule:
--   cost
--   number of calls             of each group
--   tag                         of the rule's algorithm
--   parameter…                  of the rule
-- otherwise:
--   ''
--   number of rules
--   for each rule:
--     tag                       of its algorithm; after a ^ how many of the parameters are those of an escalation
--     number of parameters
--     parameter…
--   groups until the end, in one of two forms; a rule is given by its index in the list. Groups of one key each, whose keys all differ and
--   whose calls consume the same cost:
--     number of groups
--     rule
--     cost
--     number of calls           of each group
--   or one group:
--     0
--     number of keys
--     number of calls           equal calls count once
--     for each call:
--       operation               after 'traced ' with a trace
--       wait
--       how often               equal calls in a row
--       number of parts
--       for each part:
--         rule
--         cost
--         at
--         margin                only to acquire
--         gap                   only to acquire
--         most waiting calls    only to acquire
--         number of parameters  only to override
--         parameter…            only to override
--
-- Reply: now, and for each group answers until all its calls have one. A number ≥ 0 is what remains to a call that is allowed now, and its
-- reset follows. Any other is a code of reply-codes.ts:
--   RATE_NOT_SET           no shared rate is set
--   FAILED                 what went wrong, as text, for all calls of the group
--   RUN                    equal calls, all allowed now: how many, and three numbers that the algorithm's expandRun reads
--   SAME_DENIED            equal calls, all denied: how many, wait, remaining, reset
--   SAME_ALLOWED           equal calls, all allowed without taking anything: the same
--   ELSEWHERE              a key of the group lives on another node
--   UNDECLARED             what the server said, as text, when it takes no keys of this group that are not declared; nothing is written
--   DENIED ALLOWED QUEUED  wait, and for each part:
--     remaining
--     wait
--     reset
--     at
--     number of parameters  that override those of the rule
--     parameter…
--     blocked               only with an escalation: how long it is still blocked
--     step                  only with an escalation: the step that this call took; 0: none
--   With a trace five lists for each part follow, each as its length and its numbers: the parameters, the state before, the state after, the
--   queue, and the end of the block.
--
-- This file and take-run.lua are what most calls need: to consume, of keys that hold a bare state or nothing. They make no function: to make
-- functions costs more than to decide. The other files here decide what is more, or goes wrong, from the beginning.

-- @reply-codes

local LARGEST = 9007199254740991
-- Keys that one command reads, and the largest number that string.format('%d') takes everywhere: a number as an argument takes twice as long.
local MOST_READ = 100
local LARGEST_LONG = 2147483647
-- µs: the first number of a state is a moment after this one, in 1987.
local OLDEST = 562949953421312
local call, try, keys, arguments, elements = redis.call, redis.pcall, KEYS, ARGV, unpack
local byte, floor, format, frexp, pack, unpack =
  string.byte, math.floor, string.format, math.frexp, struct.pack, struct.unpack

local function integer(text, least)
  local value = text + 0
  -- NaN fails every comparison, so each is checked for the values it may have.
  if value >= least and value <= LARGEST and value % 1 == 0 then return value end
  error('SLUICE not a whole number from ' .. least .. ' to 2^53-1: ' .. tostring(text))
end

local declared = #keys > 0
if not declared then
  local count = integer(arguments[1], 0)
  keys, arguments = { elements(ARGV, 2, count + 1) }, {}
  for i = count + 2, #ARGV do arguments[i - count - 1] = ARGV[i] end
  -- MGET takes keys of one slot only.
  MOST_READ = 1
end
-- What a node answers when a key is not its own, is moving to another node, or when the cluster is down.
local function is_elsewhere(wrong)
  return wrong:find('non local key', 1, true) or wrong:find('slot not served', 1, true) or wrong:find('cluster is down', 1, true)
end
-- What other servers answer to a key that is not declared.
local function is_undeclared(wrong)
  return wrong:find('same slot', 1, true) or wrong:find('undeclared', 1, true)
end

local now = arguments[1]
local is_packed = now == 'packed'
if is_packed or now == '' then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = integer(now, 0)
end
-- A nil in a constructor is room for what follows, so that the table does not grow step by step.
-- The last reply so far, the keys before the present group, the last key of the groups like it, and the next argument.
local replies, replied, offset, last, next, size = { now, nil, nil, nil }, 1, 0, 0, 4, #arguments
local alike = arguments[2] ~= ''

local rules = { nil }
for i = 1, alike and 1 or integer(arguments[3], 0) do
  local tag, before_first = arguments[next], next
  next = size
  if not alike then
    before_first = before_first + 1
    next = before_first + integer(arguments[before_first], 0)
  end
  local rule = { tag = tag, nil, nil, nil, nil, nil, nil, nil }
  for p = before_first + 1, next do rule[p - before_first] = integer(arguments[p], 0) end
  rules[i] = rule
  next = next + 1
end

local general, rule, cost, times
if alike then
  last, rule, cost, times = #keys, rules[1], integer(arguments[2], 0), integer(arguments[3], 1)
end
-- What the keys behind the first `from` hold, up to the key `to`.
local raws, from, to = nil, 0, 0
-- Servers from Redis 8.4 and Valkey 9.1 on write several keys with one command: see take-run.lua.
local knows_msetex = (redis.VALKEY_VERSION_NUM or 0) >= 590080 or (redis.REDIS_VERSION_NUM or 0) >= 525312
local writes_many, writes, rows = false, { nil, nil, nil, nil }, { nil, nil, nil, nil }
while last > offset or next <= size do
  -- The numbers of a group are checked before its keys are written.
  if last == offset and arguments[next] ~= '0' then
    last = offset + integer(arguments[next], 1)
    rule = rules[integer(arguments[next + 1], 1)] or error('SLUICE no such rule')
    cost, times = integer(arguments[next + 2], 0), integer(arguments[next + 3], 1)
    next = next + 4
  end
  local simple = false
  if last > offset and cost > 0 and #rule > 0 then
    local tag = rule.tag
    -- @take-runs
  end

  if not simple then
    if not general then
      general = (function()
        -- @include values.lua
        -- @include counter.lua
        -- @include entry.lua
        -- @include override.lua
        -- @include wait-queue.lua
        -- @include key-state.lua
        -- @include escalation.lua
        -- @include hold.lua
        -- @include decide-call.lua
        -- @include bare.lua
        -- @include key-group.lua
      end)()
    end
    local known, fine, wrong, places, calls = replied, nil, nil, 1, nil
    if last > offset then
      fine, wrong = pcall(general.consume, rule, cost, times)
    else
      places, calls, next = general.read_group(next + 1)
      last = offset + places
      fine, wrong = pcall(general.decide_group, calls, places)
    end
    if not fine then
      for n = known + 1, replied do replies[n] = nil end
      -- A table since Redis 7.
      wrong = type(wrong) == 'table' and wrong.err or wrong
      if not declared and is_elsewhere(wrong) then
        replied = known + 1
        replies[replied] = ELSEWHERE
      else
        replied = known + 2
        replies[known + 1], replies[replied] = not declared and is_undeclared(wrong) and UNDECLARED or FAILED, wrong
      end
    end
    offset = offset + places
  end
end
if is_packed then return cmsgpack.pack(replies) end
return replies
