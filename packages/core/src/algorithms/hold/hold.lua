-- @tag hd
-- The twin of hold.ts: what a store keeps of holds. engine/hold.lua changes these states.
-- parameters: limit: the most that is held at once; 0 for a record
-- state:      of a record: when it expires (µs), when the hold lapses (µs), its owner, when it began (µs), its kind, the amount of each limit
--             of a limit: when the last amount lapses (µs), then the moment at which it lapses (µs) and the amount, by moment

local function normalize(_, state)
  return state
end

local function wait(_, _, _, cost)
  return cost == 0 and 0 or NEVER
end

local function take(_, state, now)
  return state or pack('>ddd', now, 0, 0)
end

local function refund(_, state)
  return state
end

local function usage(p, state, now)
  local remaining, reset = p[1], 0
  if not state then return remaining, reset end
  for i = 2, p[1] > 0 and #state / 8 or 0, 2 do
    if number(state, i) > now then remaining = math.max(0, remaining - number(state, i + 1)) end
  end
  return remaining, math.max(0, number(state, 1) - now)
end

return { is_hold = true, least = 24, step = 8, parameters = 1, normalize = normalize, wait = wait, take = take, refund = refund, usage = usage }
