-- The twin of fixed-window.ts: a counter over windows that begin with their first call.
-- parameters: limit (permits), window (µs)
-- state:      end of the last used window (µs), permits used in it, [moment of the last write (µs), while calls are booked]

local function keep(last, used, window, now)
  if last - window > now then return { last, used, now } end
  return { last, used }
end

local function step(parameters, state, now, operation, cost, bound)
  local limit, window = parameters[1], parameters[2]
  local last, used, kept = now + window, 0, state
  if state and state[1] > now then
    local seen = state[3]
    if seen then
      last = state[1] - math.max(0, seen - now)
    else
      last = math.min(state[1], last)
    end
    used = state[2]
    if last ~= state[1] then kept = keep(last, used, window, now) end
  end

  local allowed, wait = true, 0
  if operation == 'refund' then
    if used > 0 and bound < last and bound >= last - window then
      used = math.max(0, used - cost)
      if used == 0 and last - window > now then
        last = last - window
        used = limit
      end
      if used == 0 then kept = nil else kept = keep(last, used, window, now) end
    end
  elseif cost > limit then
    allowed, wait = false, NEVER
  else
    local fits = used + cost <= limit
    if fits then wait = math.max(0, last - window - now) else wait = last - now end
    allowed = wait <= bound
    if allowed and operation == 'consume' and cost > 0 then
      if fits then
        used = used + cost
      else
        last = last + window
        used = cost
      end
      kept = keep(last, used, window, now)
    end
  end

  local remaining, reset = 0, 0
  if last - window <= now then remaining = math.max(0, limit - used) end
  if used > 0 then reset = last - now end
  return kept, allowed, remaining, wait, reset
end
