-- @tag fw
-- See fixed-window.lua for parameters and state, decide.lua for what this is. Calendar days are not that simple.
local function spend(p, state, now, cost, count)
  local limit, latest, last, used = p[1], now + p[2], 0, 0
  if p[4] or cost > limit then return end
  if p[3] then latest = latest - math.fmod(now, p[2]) end
  if state then
    if #state ~= 16 then return end
    last, used = struct.unpack('>dd', state)
    if last > latest then return end
  end
  if last <= now then last, used = latest, 0 end
  local free = limit - used
  if cost > free then return 0, math.max(0, free), last - now, last - now end
  if cost * count > free then count = (free - math.fmod(free, cost)) / cost end
  return count, free - cost, struct.pack('>dd', last, used + count * cost), last, last - now, 0, 0, 1, 1
end
