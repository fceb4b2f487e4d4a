-- @tag tb
-- The twin of meter.ts and meter-state.ts, which explain it: one moment, at which the bucket is full again.
-- parameters: units that pay for a permit, units that flow back at each tick, units of a full bucket, units that may be missing
--             beyond that, units missing at first, 1 when acquire shapes, 2 when it waits for more than the bucket holds, µs between two ticks
-- state:      forgotten at (µs), seen (µs), since (µs), [late (units), [whole at (µs), [span (µs)]]]

-- Units that are missing, and the last tick.
local function debt_at(p, state, now)
  if not state then return p[5], now end
  local size, late = #state, 0
  if size > 24 then late = number(state, 4) end
  local whole = number(state, size > 32 and 5 or 1)
  if whole <= now then return 0, now end
  local ticks = whole - now
  if p[7] ~= 1 then ticks = up(ticks, p[7]) end
  return math.max(0, ticks * p[2] - late), whole - ticks * p[7]
end

local function span_of(p)
  return up(p[3] + p[4], p[2]) * p[7]
end

-- Leaves room below 2^53 for a clock that trembles.
local function most_of(p)
  return math.min(LARGEST - (up(JITTER, p[7]) + 2) * p[2], down(LONGEST, p[7]) * p[2])
end

-- A bucket without capacity stays as it is: calls take nothing from it.
local function taken_at_most(p)
  if p[3] == 0 then return most_of(p) end
  return p[3] + p[4]
end

-- The latest moment that the clock showed: now, unless it trembles.
local function seen_at(state, now)
  if state then return math.max(now, number(state, 2)) end
  return now
end

-- How long a key lasts that holds this state, as known from the state alone: until the next multiple of the largest power of two that is not
-- above the time to full. So a call that ends within it writes its state in place. Memory has no TTLs, so no twin.
local function kept_until(state)
  local whole, seen = unpack('>dd', state)
  if #state > 32 then return whole end
  local left = math.max(1, whole - seen)
  return whole + -whole % (left / frexp(left) / 2)
end

local function write(p, seen, debt, since, last)
  local ticks = up(debt, p[2])
  local late = ticks * p[2] - debt
  local whole = last + ticks * p[7]
  local forgotten = whole
  if p[5] > 0 then forgotten = math.max(whole, seen + math.max(86400000000, span_of(p))) end
  if debt > p[3] + p[4] then return pack('>dddddd', forgotten, seen, since, late, whole, span_of(p)) end
  if p[5] > 0 then return pack('>ddddd', forgotten, seen, since, late, whole) end
  if late > 0 then return pack('>dddd', forgotten, seen, since, late) end
  return pack('>ddd', forgotten, seen, since)
end

-- The fourth and the sixth number are no moments.
local function delayed(state, micros)
  local parts = {}
  for i = 1, #state / 8 do
    local value = number(state, i)
    if i ~= 4 and i ~= 6 then value = math.max(0, value - micros) end
    parts[i] = pack('>d', value)
  end
  return table.concat(parts)
end

local function initial_state(p, now)
  if p[5] > 0 then return write(p, now, p[5], now, now) end
  return nil
end

local function normalize(p, state, now)
  local back = number(state, 2) - now
  if back > JITTER then state = delayed(state, back) end
  local seen = seen_at(state, now)
  local debt, last = debt_at(p, state, seen)
  if debt <= p[3] + p[4] then return state end
  local most = taken_at_most(p)
  if #state > 40 and number(state, 6) == span_of(p) then most = most_of(p) end
  if debt > most then return write(p, seen, most, number(state, 3), last) end
  return state
end

local function wait(p, state, now, cost)
  local price = cost * p[1]
  if price > p[3] + p[4] then return NEVER end
  if cost == 0 then return 0 end
  local debt, last = debt_at(p, state, now)
  local over = debt - math.min(p[3] - p[1], p[3] + p[4] - price)
  if over > 0 then return last + up(over, p[2]) * p[7] - now end
  return 0
end

-- The state after calls took the debt from `before` to `debt`.
local function grown(p, state, now, before, debt, last)
  local since = now
  if state and before > 0 then since = number(state, 3) end
  return write(p, seen_at(state, now), debt, since, last)
end

local function take(p, state, now, cost)
  local before, last = debt_at(p, state, now)
  local debt = before + cost * p[1]
  if debt > p[3] + p[4] then debt = math.min(debt, most_of(p)) end
  return grown(p, state, now, before, debt, last)
end

local function absorb(p, state, now, cost)
  local debt, last = debt_at(p, state, now)
  return grown(p, state, now, debt, math.max(debt, math.min(debt + cost * p[1], taken_at_most(p))), last)
end

local function refund_since(p, state, now, cost, at)
  local since = number(state, 3)
  local debt, last = debt_at(p, state, now)
  if debt == 0 or cost == 0 then return state end
  local back = cost * p[1]
  if at ~= ANY and at ~= number(state, 2) then back = math.max(0, back - up(math.max(0, last - at), p[7]) * p[2]) end
  if back == 0 then return state end
  local rest = math.max(0, debt - back)
  if rest > 0 then return write(p, seen_at(state, now), rest, since, last) end
  if p[5] > 0 then return write(p, seen_at(state, now), 0, since, now) end
  return nil
end

local function refund(p, state, now, cost, at)
  if at ~= ANY and at < number(state, 3) then return state end
  return refund_since(p, state, now, cost, at)
end

local function usage(p, state, now)
  local debt, last = debt_at(p, state, now)
  if debt == 0 then return down(p[3] + p[4], p[1]), 0 end
  local remaining = 0
  if debt <= p[3] - p[1] then remaining = down(p[3] + p[4] - debt, p[1]) end
  return remaining, last + up(debt, p[2]) * p[7] - now
end

local function translate(from, p, state, now)
  local permits = up((debt_at(from, state, now)), from[1])
  return write(p, seen_at(state, now), math.min(permits * p[1], taken_at_most(p)), number(state, 3), now)
end

local function is_saved(p, cost)
  return p[6] == 2 and cost * p[1] > p[3] + p[4]
end

local function acquire_wait(p, state, now, cost)
  if is_saved(p, cost) then
    local debt, last = debt_at(p, state, now)
    if cost * p[1] > most_of(p) - debt then return NEVER end
    return last + up(debt + cost * p[1] - p[3] - p[4], p[2]) * p[7] - now
  end
  local moment = wait(p, state, now, cost)
  if p[6] ~= 1 or moment == NEVER or cost == 0 then return moment end
  return math.max(moment, down((debt_at(p, state, now)), p[2]))
end

local function saving(p, cost)
  if is_saved(p, cost) then return up(cost * p[1] - p[3] - p[4], p[2]) * p[7] end
  return 0
end

local function book(p, state, now, cost)
  if not is_saved(p, cost) then return take(p, state, now, cost) end
  local debt, last = debt_at(p, state, now)
  return grown(p, state, now, debt, math.min(debt + p[3] + p[4], most_of(p)), last)
end

local function anchored(p)
  return p[7] > 1
end

local function max_wait(p, cost)
  if p[6] ~= 1 then return LONGEST end
  return math.max(0, down(p[3] - cost * p[1], p[2]))
end

return {
  least = 24, most = 48, step = 8, parameters = 7, kept_until = kept_until, initial_state = initial_state, translate = translate, normalize = normalize, wait = wait, take = take, absorb = absorb, refund = refund, refund_since = refund_since, usage = usage, acquire_wait = acquire_wait, max_wait = max_wait,
  saving = saving, book = book, anchored = anchored,
}
