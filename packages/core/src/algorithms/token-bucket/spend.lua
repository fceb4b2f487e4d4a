-- @tag tb
-- See meter.lua for parameters and state, decide.lua for what this is. Buckets that begin with less than they hold are not that simple, nor
-- are states that are more than a moment.
local function spend(p, state, now, cost, count)
  local fmod, permit, units, size, tick = math.fmod, p[1], p[2], p[3], p[7]
  local price, most = cost * permit, size + p[4]
  if p[5] > 0 or price > most then return end
  local debt, last, since = 0, now, now
  if state then
    if #state ~= 24 and #state ~= 32 then return end
    local late, whole, seen, began = 0, struct.unpack('>ddd', state)
    if seen > now then return end
    if whole > now then
      local behind = fmod(whole - now, tick)
      last = behind > 0 and now + behind - tick or now
      if #state > 24 then late = struct.unpack('>d', state, 25) end
      debt = (whole - last) / tick * units - late
      if debt > most then return end
      if debt > 0 then since = began else debt = 0 end
    end
  end
  local room = math.min(size - permit, most - price) - debt
  if room < 0 then
    local free, rest, over = 0, fmod(debt, units), fmod(-room, units)
    if debt <= size - permit then free = most - debt end
    local reset, wait = debt - rest, -room - over
    if rest > 0 then reset = reset + units end
    if over > 0 then wait = wait + units end
    return 0, (free - fmod(free, permit)) / permit, last + wait / units * tick - now, last + reset / units * tick - now
  end
  -- What is borrowed is not told.
  if p[4] > 0 then count = 1 end
  if price * (count - 1) > room then count = (room - fmod(room, price)) / price + 1 end
  local free = most - debt - price
  if debt + price > size - permit then free = 0 end
  local owed = debt + count * price
  local rest, late = fmod(owed, units), 0
  if rest > 0 then late = units - rest end
  local whole = last + (owed + late) / units * tick
  local after = late > 0 and struct.pack('>dddd', whole, now, since, late) or struct.pack('>ddd', whole, now, since)
  return count, (free - fmod(free, permit)) / permit, after, whole, last - now, debt, price, units, tick
end
