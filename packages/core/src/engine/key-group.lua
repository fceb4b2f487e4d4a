-- Groups of calls that have the same keys: reads them from the arguments, and decides them one after the other.

-- A part without parameters: they are in Redis, as [rate_version, µs to keep it alive, per client, parameters…]; see shared-rate.lua.
local function read_shared_rate(part)
  local raw, config = read(3), keys[offset + 3]
  if not raw then return false end
  if #raw < 32 or #raw % 8 ~= 0 then foreign(config) end
  local numbers = {}
  for i = 1, #raw / 8 do
    numbers[i] = (unpack('>d', raw, i * 8 - 7))
    if not is_whole(numbers[i]) then foreign(config) end
  end
  if numbers[3] > 1 or #numbers < 3 + part.algorithm.parameters then foreign(config) end
  part.shared = { key = config, rate_version = numbers[1], keep_alive = numbers[2] }
  part.place = numbers[3] == 1 and 2 or 1
  part.parameters = {}
  for i = 4, #numbers do part.parameters[i - 3] = numbers[i] end
  return true
end

-- `count` calls to consume, of the one key of a group.
local function consume(rule, cost, count)
  entries[1], ends[1], group_size = nil, nil, 1
  with_algorithm(rule)
  local part = { place = 1, algorithm = rule.algorithm, parameters = rule, cost = cost, at = 0 }
  for _ = 1 + decide_bare(rule, 'consume', cost, count), count do decide('consume', 0, { part }) end
  save(1)
end

-- How many keys a group has, its calls as the arguments from the place `next` have them, and the place behind them.
local function read_group(next)
  local function one(least)
    next = next + 1
    return integer(arguments[next - 1], least)
  end
  local places, calls = one(1), {}
  for c = 1, one(1) do
    local operation = arguments[next]
    next = next + 1
    local request = { operation = operation, wait = one(0), times = one(1), parts = {} }
    local place = 1
    for i = 1, one(1) do
      local rule = with_algorithm(with_escalation(rules[one(1)] or error('SLUICE no such rule')))
      local part = { place = place, rule = rule, algorithm = rule.algorithm, parameters = rule, cost = one(0), at = one(ANY) }
      part.escalation, place = rule.escalation, place + (rule.escalation and 2 or 1)
      if operation == 'acquire' then part.booking = { margin = one(0), gap = one(0), max_waiting = one(0) } end
      if operation == 'override' then
        part.override = {}
        for p = 1, one(0) do part.override[p] = one(0) end
      end
      request.parts[i] = part
    end
    calls[c] = request
  end
  return places, calls, next
end

local function decide_group(calls, places)
  for place = 1, places do entries[place], ends[place] = nil, nil end
  group_size = places
  for i = 1, #calls do
    local request = calls[i]
    local first, done, known = request.parts[1], 0, true
    if #first.rule == 0 then
      known = read_shared_rate(first)
    elseif #request.parts == 1 then
      done = decide_bare(first.rule, request.operation, first.cost, request.times)
    end
    for _ = 1 + done, request.times do
      if known then decide(request.operation, request.wait, request.parts) else reply_one(RATE_NOT_SET) end
    end
  end
  for place = 1, places do save(place) end
end

return { consume = consume, read_group = read_group, decide_group = decide_group }
