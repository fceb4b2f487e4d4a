-- The twin of hold.ts: holds and settles amounts of several limits together. algorithms/hold/hold.lua describes the states.

-- Places in a record, and kinds of a record.
local LAPSES, OWNER, BEGAN, KIND, RECORD_HEAD = 2, 3, 4, 5, 5
local KEEP, REFUND, SETTLED = 1, 2, 3

local function put(key_state, state)
  if state ~= key_state.state then key_state.state, key_state.changed = state, true end
end

-- What a hold adds to amounts saturates.
local function plus(a, b)
  return math.min(a + b, LARGEST)
end

local function limits_of(key_states, parts)
  local limits, spent = {}, nil
  for i = 1, #key_states do
    local key_state = key_states[i]
    key_state.own_moment = now
    if i > 1 and parts[i].algorithm.is_hold then
      local numbers, amounts = key_state.state and unpacked(key_state.state) or NOTHING, {}
      for n = 2, #numbers, 2 do
        if numbers[n] > now then
          amounts[#amounts + 1], amounts[#amounts + 2] = numbers[n], numbers[n + 1]
        end
      end
      limits[#limits + 1] = { spent = spent, held = key_state, amounts = amounts, before = 0, given = parts[i].cost, soft = parts[i].at == 1 }
      spent = nil
    elseif i > 1 then
      spent = key_state
    end
  end
  return limits
end

local function is_taken(limit, kind)
  return limit.spent and kind == KEEP
end

local function is_own(record, part, limits)
  return #record == 0 or (record[OWNER] == part.at and #record == RECORD_HEAD + #limits)
end

local function refuse(key_state)
  key_state.own_moment = NEVER
  return NEVER
end

local function place_of(amounts, moment)
  local place = 1
  while place <= #amounts and amounts[place] < moment do place = place + 2 end
  return place
end

-- Reads what the hold has, and takes it out of the amounts that are held.
local function take_out(limits, record, kind)
  for i = 1, #limits do
    local limit = limits[i]
    local amounts, lapses = limit.amounts, record[LAPSES] or 0
    limit.before = record[RECORD_HEAD + i] or 0
    if not is_taken(limit, kind) then
      if lapses <= now then limit.before = 0 end
      local place = place_of(amounts, lapses)
      if limit.before > 0 and amounts[place] == lapses then
        local left = amounts[place + 1] - limit.before
        if left > 0 then
          amounts[place + 1] = left
        else
          table.remove(amounts, place)
          table.remove(amounts, place)
        end
      end
    end
  end
end

local function write_amounts(limit)
  local amounts = limit.amounts
  if #amounts == 0 then return put(limit.held, nil) end
  put(limit.held, pack('>d', amounts[#amounts - 1]) .. packed(amounts))
end

local function put_in(limit, lapses, amount)
  local amounts = limit.amounts
  local place = place_of(amounts, lapses)
  if amounts[place] == lapses then
    amounts[place + 1] = plus(amounts[place + 1], amount)
  else
    table.insert(amounts, place, amount)
    table.insert(amounts, place, lapses)
  end
  write_amounts(limit)
end

-- The first moment from `from` on at which the amount fits; NEVER.
local function moment_for(limit, amount, from)
  local spent = limit.spent
  if not spent then return amount <= limit.held.parameters[1] and from or NEVER end
  spent.cost = amount
  local moment = earliest(spent, now)
  return moment == NEVER and NEVER or math.max(from, moment)
end

-- µs until what the hold needs more fits beside all that others hold: amounts lapse one after the other.
local function wait_for(limit, kind)
  if limit.given <= limit.before or limit.soft then return 0 end
  local need = is_taken(limit, kind) and limit.given - limit.before or limit.given
  local amounts, others, from, best, place = limit.amounts, 0, now, NEVER, 1
  for i = 2, #amounts, 2 do others = plus(others, amounts[i]) end
  while true do
    local moment = moment_for(limit, plus(need, others), from)
    if moment ~= NEVER and (best == NEVER or moment < best) then best = moment end
    if best == from or place > #amounts then break end
    from, others = amounts[place], math.max(0, others - amounts[place + 1])
    place = place + 2
  end
  return best == NEVER and NEVER or best - now
end

-- Amounts of about the same moment lapse together: see hold.ts.
local function lapse_at(micros)
  local step = 1
  while 16 * step <= micros do step = step * 2 end
  return ceil((now + micros) / step) * step
end

-- Returns µs until it fits, 0 if it was done, NEVER if the hold is not the caller's.
local function hold(key_states, parts, micros)
  local limits, record = limits_of(key_states, parts), key_states[1].state and unpacked(key_states[1].state) or NOTHING
  local kind = record[KIND] or parts[1].cost
  if kind == 0 or kind == SETTLED or not is_own(record, parts[1], limits) then return refuse(key_states[1]) end
  take_out(limits, record, kind)
  local waits = 0
  for i = 1, #limits do
    local own = wait_for(limits[i], kind)
    local key_state = limits[i].spent or limits[i].held
    key_state.own_moment = own == NEVER and NEVER or now + own
    waits = (waits == NEVER or own == NEVER) and NEVER or math.max(waits, own)
  end
  if waits ~= 0 then return waits end
  local lapses = lapse_at(micros)
  local numbers = { lapses + micros, lapses, parts[1].at, record[BEGAN] or now, kind }
  for i = 1, #limits do
    local limit = limits[i]
    local amount = math.max(limit.before, limit.given)
    -- See hold.ts.
    if kind == REFUND and limit.given > limit.before then numbers[BEGAN] = now end
    numbers[RECORD_HEAD + i] = amount
    if is_taken(limit, kind) then
      limit.spent.cost = amount - limit.before
      take_or_book(limit.spent, now)
    elseif amount > 0 then
      put_in(limit, lapses, amount)
    end
  end
  put(key_states[1], packed(numbers))
  return 0
end

-- Counts more or less than was taken from the moment `at` on. A window that has ended since then stays as it is.
local function correct(key_state, more, at)
  local has_ended = key_state.algorithm.has_ended
  if has_ended and has_ended(key_state.parameters, now, at) then return end
  key_state.cost = math.abs(more)
  if more > 0 then charge(key_state) else refund(key_state, at, key_state.algorithm.refund_since) end
end

local function settle(key_states, parts, micros)
  local limits, record = limits_of(key_states, parts), key_states[1].state and unpacked(key_states[1].state) or NOTHING
  if #record == 0 or not is_own(record, parts[1], limits) then return refuse(key_states[1]) end
  local kind, numbers = record[KIND], { now + micros, now, parts[1].at, record[BEGAN], SETTLED }
  if kind == SETTLED then return 0 end
  take_out(limits, record, kind)
  for i = 1, #limits do
    local limit = limits[i]
    local taken = is_taken(limit, kind) and limit.before or 0
    if not is_taken(limit, kind) then write_amounts(limit) end
    if limit.spent then correct(limit.spent, limit.given - taken, math.min(record[BEGAN], now)) end
    numbers[RECORD_HEAD + i] = limit.given
  end
  put(key_states[1], packed(numbers))
  return 0
end
