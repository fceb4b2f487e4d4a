-- @tag tb
-- See meter.lua for parameters and state, spend_of in decide.lua for what this is. Buckets that begin with less than they hold are not that
-- simple, nor are states that are more than a moment.
return function(p, state, now, cost, count)
  if p[5] > 0 or (state and #state > 32) then return 0 end
  local units, tick, size = p[2], p[7], p[3]
  local debt, last, since, price, most = 0, now, now, cost * p[1], size + p[4]
  if state then
    local whole, seen, began = unpack('>ddd', state)
    if seen > now then return 0 end
    if whole > now then
      local ticks = up(whole - now, tick)
      debt, last = ticks * units, whole - ticks * tick
      if #state > 24 then debt = debt - (unpack('>d', state, 25)) end
    end
    if debt > 0 then since = began else debt = 0 end
  end
  local room = math.min(size - p[1], most - price) - debt
  if room < 0 then return 0 end
  -- Only whole ticks make equal steps, and what is borrowed is not told.
  if p[4] > 0 or fmod(price, units) > 0 then count = 1 end
  if price * (count - 1) > room then count = (room - fmod(room, price)) / price + 1 end
  local free, remaining = most - debt - price, 0
  if p[4] == 0 or debt + price <= size - p[1] then remaining = (free - fmod(free, p[1])) / p[1] end
  local reset = last + up(debt + price, units) * tick - now
  debt = debt + count * price
  local ticks = up(debt, units)
  local late, whole = ticks * units - debt, last + ticks * tick
  local after = late > 0 and pack('>dddd', whole, now, since, late) or pack('>ddd', whole, now, since)
  return count, after, whole, remaining, reset, -cost, price / units * tick
end
