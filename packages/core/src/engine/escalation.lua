-- The twin of escalation.ts: counts the denials of a key, and says how long they block it.
-- rule.escalation: denials that make a block, µs in which they count, µs until they are forgiven, µs of each block in turn.
-- Its key holds: when it expires, when it was written, steps taken, the end of the last block or the last denial that counted, denials…

-- Rules of an escalation have a tag such as fw^5: the last five of their numbers are the escalation's.
local function with_escalation(rule)
  local count = tonumber(string.sub(rule.tag, 4))
  if not count then return rule end
  local first, escalation = #rule - count, {}
  for i = 1, count do escalation[i], rule[first + i] = rule[first + i], nil end
  rule.tag, rule.escalation = string.sub(rule.tag, 1, 2), escalation
  return rule
end

-- Steps taken, the end of the last block or the last denial, the denials, and the latest moment that the clock showed.
local function escalated(escalation, raw)
  local within, forgive, denials = escalation[2], escalation[3], {}
  if not raw or number(raw, 1) <= now then return 0, 0, denials, now end
  local written, step, back = number(raw, 2), number(raw, 3), 0
  if written - now > JITTER then back = written - now end
  local seen, since = math.max(now, written - back), number(raw, 4) - back
  if since + forgive <= seen then return 0, 0, denials, seen end
  for i = 5, #raw / 8 do
    local at = number(raw, i) - back
    if at + within > seen then denials[#denials + 1] = at end
  end
  return math.min(step, #escalation - 3), since, denials, seen
end

-- Counts a denial, and blocks the key if it is one too many. Returns whether it does.
local function strike(key_state)
  local escalation, place = key_state.escalation, key_state.place + 1
  local raw = read(place)
  if raw and (byte(raw) ~= MOMENT or #raw % 8 ~= 0 or #raw < 32) then foreign(keys[offset + place]) end
  local step, since, denials, seen = escalated(escalation, raw)
  if #denials + 1 < escalation[1] then
    local latest = math.max(since, seen)
    local expiry = latest + escalation[step > 0 and 3 or 2]
    write(place, pack('>dddd', expiry, seen, step, latest) .. packed(denials) .. pack('>d', seen), expiry)
    return false
  end
  step = math.min(step + 1, #escalation - 3)
  local micros = escalation[3 + step]
  local ending = seen + micros
  write(place, pack('>dddd', ending + escalation[3], seen, step, ending), ending + escalation[3])
  key_state.step = step
  block(key_state, micros)
  return true
end

-- Counts a denial at each part that alone denied it, unless one is blocked. Returns whether that blocks the call.
-- longest: the wait that would have been allowed.
local function escalate(key_states, longest)
  local blocks, escalates = false, false
  for i = 1, #key_states do
    if key_states[i].blocked_until > now then return false end
    if key_states[i].escalation then escalates = true end
  end
  if not escalates then return false end
  for i = 1, #key_states do
    local key_state = key_states[i]
    local wait = key_state.own_moment - now
    if key_state.escalation and (wait > longest or is_overfull(key_state)) then
      blocks = strike(key_state) or blocks
    end
  end
  return blocks
end
