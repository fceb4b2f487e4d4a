-- @tag fw
-- See fixed-window.lua for parameters and state, spend_of in decide.lua for what this is. Calendar days are not that simple.
return function(p, state, now, cost, count)
  if p[4] then return 0 end
  local window, last, used = p[2], 0, 0
  local latest = p[3] and now - fmod(now, window) + window or now + window
  if state then last, used = unpack('>dd', state) end
  if last > latest then return 0 end
  if last <= now then last, used = latest, 0 end
  local free = p[1] - used
  if cost > free then return 0 end
  if cost * count > free then count = (free - fmod(free, cost)) / cost end
  return count, pack('>dd', last, used + count * cost), last, free - cost, last - now, -cost, 0
end
