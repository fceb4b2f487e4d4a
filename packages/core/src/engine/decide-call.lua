-- The twin of decide.ts: decides a call over its parts, all or none.

-- Each try passes a booking; the search must end.
local MOST_TRIES = 10000
-- Operations whose replies include a trace.
local TRACED = { ['traced consume'] = 'consume', ['traced peek'] = 'peek', ['traced hold'] = 'hold', ['traced settle'] = 'settle' }

local function reply_one(value)
  replied = replied + 1
  replies[replied] = value
end

-- A figure of an answer. Damaged parameters or counts can make others than whole numbers.
local function reply_figure(value)
  if value ~= NEVER and not is_whole(value) then damaged() end
  reply_one(value)
end

local function reply_list(numbers)
  reply_one(#numbers)
  for i = 1, #numbers do reply_one(numbers[i]) end
end

local function reply_call(key_states, code, wait)
  reply_one(code)
  reply_figure(wait)
  for i = 1, #key_states do
    local key_state = key_states[i]
    local remaining, reset = usage(key_state)
    reply_figure(remaining)
    reply_figure(key_state.own_moment == NEVER and NEVER or key_state.own_moment - now)
    reply_figure(reset)
    reply_figure(key_state.at)
    reply_list(key_state.override == '' and not key_state.shared and NOTHING or key_state.parameters)
    if key_state.escalation then
      reply_one(math.max(0, key_state.blocked_until - now))
      reply_one(key_state.step)
    end
  end
end

-- Each part may postpone the moment, until all agree: a part that allows one moment also allows a later one.
local function common_moment(key_states)
  local moment = key_states[1].own_moment
  if #key_states == 1 then return moment end
  for i = 1, #key_states do
    if key_states[i].own_moment == NEVER then return NEVER end
    moment = math.max(moment, key_states[i].own_moment)
  end
  local agreed, i, tries = 0, 1, 0
  while agreed < #key_states do
    tries = tries + 1
    if tries > MOST_TRIES then return NEVER end
    local later = earliest(key_states[i], moment)
    if later == NEVER then return NEVER end
    if later > moment then agreed = 1 else agreed = agreed + 1 end
    moment = later
    i = i % #key_states + 1
  end
  return moment
end

-- µs until every part has the permits; NEVER.
local function wait_for_all(key_states, longest)
  for i = 1, #key_states do
    local key_state = key_states[i]
    local hopeless = key_state.booking and saving_of(key_state, key_state.cost) > longest
    key_state.own_moment = hopeless and NEVER or earliest(key_state, now)
  end
  local moment = common_moment(key_states)
  return moment == NEVER and NEVER or moment - now
end

-- Denies the call. May block its keys: then the wait ends with the block.
local function deny(key_states, wait, longest, taking)
  if taking and escalate(key_states, longest) then wait = wait_for_all(key_states, longest) end
  reply_call(key_states, DENIED, wait)
end

-- The first moment at which every part has the permits, if it is at most `longest` away.
local admit
function admit(key_states, longest, taking)
  local overfull, held, roomy, wait = false, false, false, wait_for_all(key_states, longest)
  if wait == NEVER then return reply_call(key_states, DENIED, NEVER) end
  for i = 1, #key_states do
    local booking = key_states[i].booking
    if booking and booking.margin + booking.gap > 0 then roomy = true end
    if is_overfull(key_states[i]) then overfull = true end
    if key_states[i].algorithm.last then held = true end
  end
  if wait > 0 and held and #key_states == 1 then
    local key_state = key_states[1]
    if longest > 0 then
      local state = key_state.algorithm.join(key_state.parameters, key_state.state, now, key_state.cost, key_state.booking.max_waiting)
      if state ~= key_state.state then
        key_state.state, key_state.changed, key_state.at = state, true, key_state.algorithm.last(state)
        return reply_call(key_states, QUEUED, wait)
      end
    end
    -- A call that cannot wait for held permits retries: it needs an estimate.
    if key_state.booking then
      key_state.booking = nil
      wait = wait_for_all(key_states, longest)
    end
    return deny(key_states, wait, 0, taking)
  end
  local denied = wait > longest or (wait > 0 and (held or overfull))
  if denied and roomy then
    -- A call that can pass without margin and gap is not denied for them.
    for i = 1, #key_states do key_states[i].booking = { margin = 0, gap = 0, max_waiting = key_states[i].booking.max_waiting } end
    return admit(key_states, longest, taking)
  end
  -- Held permits cannot be booked. With several parts the caller now waits for them, and then tries the others: that denial counts.
  if denied and held then return deny(key_states, wait, 0, taking and longest == 0) end
  if denied then return deny(key_states, wait, longest, taking) end
  if taking then
    for i = 1, #key_states do take_or_book(key_states[i], now + wait) end
  end
  reply_call(key_states, ALLOWED, wait)
end

-- Renews the lease of `id`, which holds its permits (status 1), waits for them (0) or is unknown (-1).
local function renew(key_state, id)
  local algorithm, status, wait = key_state.algorithm, -1, 0
  key_state.at, key_state.own_moment = id, now
  if key_state.state then status = algorithm.holder_status(key_state.state, id) end
  if status >= 0 then
    key_state.state, key_state.changed = algorithm.renew(key_state.parameters, key_state.state, now, id), true
    if status == 0 then
      local estimate
      wait, estimate = algorithm.remaining_wait(key_state.parameters, key_state.state, now, id)
      wait = math.max(wait, key_state.blocked_until - now)
      key_state.own_moment = math.max(now + estimate, key_state.blocked_until)
    end
  end
  reply_call({ key_state }, status == 1 and ALLOWED or status == 0 and QUEUED or DENIED, wait)
end

local function change(key_state, part, operation, wait)
  key_state.own_moment = now
  key_state.leaves_state = operation == 'block' or operation == 'extend-block'
  if operation == 'charge' then
    charge(key_state)
  elseif operation == 'refund' then
    refund(key_state, part.at)
  elseif operation == 'reset' then
    reset(key_state)
  elseif operation == 'block' then
    block(key_state, wait)
  elseif operation == 'extend-block' then
    block(key_state, math.max(wait, key_state.blocked_until - now))
  else
    key_state.changed = true
    if operation ~= 'override' then
      error('SLUICE unknown operation: ' .. operation)
    elseif wait > 0 then
      begin_override(key_state, part.override, wait)
    else
      end_override(key_state)
    end
    promote(key_state)
    look_for_gaps(key_state)
  end
end

local function decide(operation, wait, parts)
  local key_states, before = {}, TRACED[operation] and {}
  operation = TRACED[operation] or operation
  for i = 1, #parts do
    key_states[i] = open(parts[i])
    if before then before[i] = key_states[i].state or '' end
  end
  if operation == 'consume' or operation == 'peek' then
    admit(key_states, 0, operation == 'consume')
  elseif operation == 'acquire' then
    for i = 1, #parts do key_states[i].booking = parts[i].booking end
    admit(key_states, wait, true)
  elseif operation == 'renew' then
    renew(key_states[1], parts[1].at)
  elseif operation == 'hold' or operation == 'settle' then
    local waits = (operation == 'hold' and hold or settle)(key_states, parts, wait)
    reply_call(key_states, waits == 0 and ALLOWED or DENIED, waits)
  else
    for i = 1, #parts do change(key_states[i], parts[i], operation, wait) end
    reply_call(key_states, ALLOWED, 0)
  end
  for i = 1, before and #parts or 0 do
    local key_state = key_states[i]
    reply_list(key_state.parameters)
    reply_list(unpacked(before[i]))
    reply_list(unpacked(key_state.state or ''))
    reply_list(key_state.queue)
    reply_list({ key_state.blocked_until })
  end
  for i = 1, #parts do
    local key_state = key_states[i]
    if key_state.shared and operation ~= 'peek' then keep_alive(key_state) end
    if is_kept(key_state, operation) then close(key_state) end
  end
end
