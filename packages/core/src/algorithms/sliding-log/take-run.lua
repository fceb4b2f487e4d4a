-- @tag sl sw
-- See running-log.lua for parameters and state, engine/take-run.lua for what this is. A state is not that simple when it has enough pairs that
-- a search by halves is faster.
local limit, window, slot = rule[1], rule[2], rule[3]
if cost > limit then break end
local moment = slot and now - now % slot + slot or now
local over, base, total, size, place, newest, leaves, counted = moment + window, 0, 0, 0, 17, nil, nil, nil
if state then
  size = #state
  if size < 32 or size % 16 ~= 0 or size > 2048 then break end
  local forgotten
  forgotten, base, leaves, counted = unpack('>dddd', state)
  newest, total = unpack('>dd', state, size - 15)
  if not (leaves >= OLDEST and newest <= moment and newest + window == forgotten and base <= total) then break end
  ended = ended or forgotten
  if forgotten <= now then
    newest, base, total = nil, 0, 0
  else
    -- The first pair that is still in the window.
    while leaves <= now - window do
      base, place = counted, place + 16
      leaves, counted = unpack('>dd', state, place)
    end
  end
end
if not (base >= 0 and base <= total and total <= LARGEST and (base + total) % 1 == 0) then break end
local free = limit - (total - base)
if free < cost then
  -- The first pair that leaves enough behind when it goes.
  while counted - base < cost - free do
    place = place + 16
    leaves, counted = unpack('>dd', state, place)
  end
  count, remaining, wait, reset = 0, free > 0 and free or 0, leaves + window - now, newest + window - now
else
  count = wanted
  if cost * count > free then count = floor(free / cost) end
  remaining, reset, total = free - cost, over - now, total + count * cost
  if total > LARGEST then break end
  first, owed, ends = reset, 0, over
  if not newest then
    state = pack('>dddd', over, 0, moment, total)
  elseif newest == moment then
    state = pack('>dd', over, base) .. string.sub(state, place, size - 8) .. pack('>d', total)
  else
    state = pack('>dd', over, base) .. string.sub(state, place) .. pack('>dd', moment, total)
  end
end
