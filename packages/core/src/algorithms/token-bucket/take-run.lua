-- @tag tb
-- See meter.lua for parameters and state, engine/take-run.lua for what this is. Buckets that begin with less than they hold are not that simple,
-- nor are states that are more than a moment. In Lua a % b is exact for whole numbers below 2^53, and -a % b is what is missing to a multiple.
local permit, units, full, tick = rule[1], rule[2], rule[3], rule[7]
local price, most = cost * permit, full + rule[4]
if rule[5] > 0 or price > most then break end
local debt, last, since = 0, now, now
local late, whole, seen, began = 0, nil, nil, nil
if state then
  if #state == 24 then
    whole, seen, began = unpack('>ddd', state)
  elseif #state == 32 then
    whole, seen, began, late = unpack('>dddd', state)
  else
    break
  end
  if not (whole >= OLDEST and seen <= now and began <= seen and late >= 0 and late < units and (whole + seen + began + late) % 1 == 0) then break end
  if whole > now then
    -- The last tick until now.
    last = now - (now - whole) % tick
    debt = (whole - last) / tick * units - late
    if debt > most then break end
    if debt > 0 then since = began else debt = 0 end
  end
end
local bearable = full - permit
if most - price < bearable then bearable = most - price end
local room, free = bearable - debt, 0
if room < 0 then
  if debt <= full - permit then free = most - debt end
  count, remaining = 0, (free - free % permit) / permit
  reset, wait = last + (debt + -debt % units) / units * tick - now, last + (-room + room % units) / units * tick - now
else
  count = wanted
  -- A run does not say what its calls borrow.
  if rule[4] > 0 then count = 1 end
  if price * (count - 1) > room then count = (room - room % price) / price + 1 end
  if debt + price <= full - permit then free = most - debt - price end
  first, owed = last - now, debt
  debt = debt + count * price
  -- See kept_until in meter.lua.
  local left = 1
  if state and not ended then
    -- After a refund while the clock trembles, the bucket may have been full before the latest moment that the clock showed.
    if whole - seen > 1 then left = whole - seen end
    ended = whole + -whole % (left / frexp(left) / 2)
  end
  late = -debt % units
  whole = last + (debt + late) / units * tick
  left = whole - now
  ends = whole + -whole % (left / frexp(left) / 2)
  remaining, reset = (free - free % permit) / permit, left
  state = late > 0 and pack('>dddd', whole, now, since, late) or pack('>ddd', whole, now, since)
end
