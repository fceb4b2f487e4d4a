-- The twin of bare.ts: the same as decide for most calls: one part, whose key holds a bare state or nothing, and nothing to book.
-- Returns how many of `count` equal calls it has decided.
local function decide_bare(rule, operation, cost, count)
  local algorithm, taking = rule.algorithm, operation ~= 'peek'
  if algorithm.promote or (taking and operation ~= 'consume' and operation ~= 'acquire') then return 0 end
  local raw = read(1)
  local state, changed = nil, false
  if raw then
    if byte(raw) ~= MOMENT or #raw % 8 ~= 0 then return 0 end
    state = live(sized(algorithm, raw), now)
  end
  if state then
    state = algorithm.normalize(rule, raw, now)
    if state ~= raw then state, changed = live(state, now), true end
  end
  if not state and algorithm.initial_state then
    state = algorithm.initial_state(rule, now)
    changed = changed or (taking and state ~= nil)
  end

  local wait_for = operation == 'acquire' and algorithm.acquire_wait or algorithm.wait
  local done, wait = 0, wait_for(rule, state, now, cost)
  while wait == 0 and taking and cost > 0 and done < count do
    state, changed, done = algorithm.take(rule, state, now, cost), true, done + 1
    replies[replied + 1], replies[replied + 2] = algorithm.usage(rule, state, now)
    replied = replied + 2
    if done < count then wait = wait_for(rule, state, now, cost) end
  end
  -- The rest changes nothing, so all of it has one answer. But each denial counts for an escalation.
  if done < count and (wait == 0 or (not rule.escalation and (wait < 0 or operation ~= 'acquire'))) then
    local remaining, reset = algorithm.usage(rule, state, now)
    replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
      wait == 0 and SAME_ALLOWED or SAME_DENIED, count - done, wait, remaining, reset
    replied, done = replied + 5, count
  end
  if changed then write(1, state or '', kept_until(algorithm, state)) end
  return done
end
