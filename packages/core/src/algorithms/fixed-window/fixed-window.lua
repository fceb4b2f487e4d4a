-- @tag fw
-- The twin of fixed-window.ts: a counter with an end.
-- parameters: limit (permits), window (µs); for windows on the clock then 1, or, for windows of a calendar, 2 and the moments (µs,
--             ascending) at which the windows around the present begin; an override has no moments
-- state:      end of the window (µs), permits used in it

-- Where the window ends that has the moment in it; a window that begins with its first call, if that is now.
local function end_of(p, moment)
  local window = p[2]
  if not p[3] then return moment + window end
  local edge = p[4] or 0
  for i = 5, #p do
    if moment < edge then break end
    if moment < p[i] then return p[i] end
    edge = p[i]
  end
  -- No calendar, or one of other times: steps of a window from the nearest edge that there is.
  return moment - (moment - edge) % window + window
end

-- Where the window began that ends at `last`.
local function start_of(p, last)
  for i = 5, #p do
    if p[i] == last then return p[i - 1] end
  end
  return last - p[2]
end

-- An end that lies later than a window can: the clock went back, or the policy had other windows when it was written.
local function normalize(p, state, now)
  local last, used = number(state, 1), number(state, 2)
  -- A window of the clock has begun although the clock trembles.
  local latest = end_of(p, p[3] and now + JITTER or now)
  if last > latest then return pack('>dd', end_of(p, now), used) end
  return state
end

local function wait(p, state, now, cost)
  if cost == 0 then return 0 end
  if cost > p[1] then return NEVER end
  if not state then return 0 end
  local last, used = unpack('>dd', state)
  if last <= now or cost <= p[1] - used then return 0 end
  return last - now
end

local function take(p, state, now, cost)
  if state then
    local last, used = unpack('>dd', state)
    if last > now then return pack('>dd', last, math.min(used + cost, LARGEST)) end
  end
  return pack('>dd', end_of(p, now), cost)
end

local function refund(p, state, now, cost, at)
  local last, used = unpack('>dd', state)
  if cost == 0 then return state end
  if at ~= ANY and (at >= last or at < start_of(p, last)) then return state end
  if cost < used then return pack('>dd', last, used - cost) end
  return nil
end

local function usage(p, state, now)
  if not state then return p[1], 0 end
  local last, used = unpack('>dd', state)
  if last <= now then return p[1], 0 end
  return math.max(0, p[1] - used), last - now
end

local function has_ended(p, now, at)
  return end_of(p, at) <= now
end

local function anchored(p)
  return not p[3]
end

-- The windows of an override are those of the policy.
local function complete(p, policy)
  if p[3] ~= 2 or p[4] then return p end
  local whole = { p[1], p[2], p[3] }
  for i = 4, #policy do whole[i] = policy[i] end
  return whole
end

return {
  least = 16, most = 16, step = 8, parameters = 2, normalize = normalize, wait = wait, take = take, refund = refund, usage = usage, has_ended = has_ended, anchored = anchored, complete = complete,
}
