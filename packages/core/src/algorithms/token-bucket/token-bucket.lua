-- The twin of token-bucket.ts: one number, the moment at which the bucket is full again.
-- parameters: units that pay for a permit, units that pass in a µs, units of a full bucket
-- state:      full at (µs, rounded up), [units by which that is too late], [moment of the last write (µs), while booked ahead]

-- math.fmod is exact up to 2^53; a - floor(a / b) * b, which Lua's % does, is not.
local function up(a, b)
  local rest = math.fmod(a, b)
  if rest > 0 then return (a - rest) / b + 1 end
  return a / b
end

local function keep(debt, per_micro, full, now)
  if debt == 0 then return nil end
  local ahead = up(debt, per_micro)
  local late = ahead * per_micro - debt
  if debt > full then return { now + ahead, late, now } end
  if late > 0 then return { now + ahead, late } end
  return { now + ahead }
end

local function step(parameters, state, now, operation, cost, bound)
  local per_permit, per_micro, full = parameters[1], parameters[2], parameters[3]
  local debt, kept = 0, state
  if state and state[1] > now then
    local seen, skew, most = state[3], 0, full
    if seen then
      skew = math.max(0, seen - now)
      most = LARGEST
    end
    local owed = (state[1] - skew - now) * per_micro - (state[2] or 0)
    debt = math.min(math.max(0, owed), most)
    if skew > 0 or debt ~= owed then kept = keep(debt, per_micro, full, now) end
  end

  local allowed, wait, price = true, 0, cost * per_permit
  if operation == 'refund' then
    if debt > 0 then
      local since = debt - (full + (bound - now) * per_micro)
      local back = price
      if since > 0 then back = math.max(0, price - since - (per_micro - 1)) end
      debt = math.max(0, debt - back)
      kept = keep(debt, per_micro, full, now)
    end
  elseif price > full then
    allowed, wait = false, NEVER
  else
    wait = up(math.max(0, debt + price - full), per_micro)
    allowed = wait <= bound
    if allowed and operation == 'consume' and cost > 0 then
      debt = debt + price
      kept = keep(debt, per_micro, full, now)
    end
  end

  local left = math.max(0, full - debt)
  return kept, allowed, (left - math.fmod(left, per_permit)) / per_permit, wait, up(debt, per_micro)
end
