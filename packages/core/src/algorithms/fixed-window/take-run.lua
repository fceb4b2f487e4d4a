-- @tag fw
-- See fixed-window.lua for parameters and state, engine/take-run.lua for what this is. Calendar days are not that simple.
local limit, latest, last, used = rule[1], now + rule[2], 0, 0
if rule[4] or cost > limit then break end
if rule[3] then latest = latest - now % rule[2] end
if state then
  if #state ~= 16 then break end
  last, used = unpack('>dd', state)
  if not (last >= OLDEST and last <= latest and used >= 0 and used <= LARGEST) then break end
  ended = ended or last
end
if last <= now then last, used = latest, 0 end
local free = limit - used
reset = last - now
if free < cost then
  count, remaining, wait = 0, free > 0 and free or 0, reset
else
  count = wanted
  if cost * count > free then count = floor(free / cost) end
  remaining, first, owed = free - cost, reset, 0
  state, ends = pack('>dd', last, used + count * cost), last
end
