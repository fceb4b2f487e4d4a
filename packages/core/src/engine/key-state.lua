-- The twin of key-state.ts: one part of a call while it is decided: what its key holds at the moment `now`, and what becomes of it.

-- In place of an id: all waiting calls have lost their places and should poll again.
local EVERYONE = -1

local function promote(key_state)
  local run = key_state.algorithm.promote
  if not run or not key_state.state then return end
  local state, granted
  if key_state.blocked_until > now then
    state, granted = key_state.algorithm.renew(key_state.parameters, key_state.state, now, ANY), NOTHING
  else
    state, granted = run(key_state.parameters, key_state.state, now)
  end
  if state ~= key_state.state then key_state.changed = true end
  key_state.state = state
  for i = 1, #granted do key_state.granted[#key_state.granted + 1] = granted[i] end
end

-- Takes permits at `at`. how: take, book or absorb.
local function spend(key_state, how, at, cost)
  key_state.changed = true
  key_state.state = how(key_state, key_state.state, at, cost)
  if counts_twice(key_state) then key_state.policy_state = absorb(key_state, key_state.policy_state, at, cost) end
end

-- Reads the parts of an envelope. Returns whether an override has ended since it was written.
local function open_envelope(key_state, envelope)
  local back = 0
  if envelope.seen - now > JITTER then back = envelope.seen - now end
  key_state.seen = math.max(now, envelope.seen - back)
  key_state.changed, key_state.normalized = back > 0, back > 0
  local queue = envelope.queue
  if back > 0 then
    for i = 1, #queue, 2 do queue[i] = queue[i] - back end
  end
  key_state.queue, key_state.queue_end_state, key_state.has_gaps = queue, envelope.queue_end_state, envelope.has_gaps
  if envelope.blocked_until - back > now then key_state.blocked_until = envelope.blocked_until - back end
  if not envelope.override then return false end
  if envelope.override_until - back <= now then
    key_state.changed, key_state.normalized = true, true
    if not key_state.algorithm.last then key_state.state = envelope.policy_state end
    return true
  end
  local override = unpacked(envelope.override)
  if #override < key_state.algorithm.parameters then damaged() end
  key_state.override, key_state.override_until = envelope.override, envelope.override_until - back
  key_state.parameters, key_state.policy_state = completed(key_state, override), envelope.policy_state
  return false
end

-- Gives a key without a state the one that a new key begins with.
local function start(key_state, at)
  local algorithm = key_state.algorithm
  key_state.state = algorithm.initial_state and algorithm.initial_state(key_state.parameters, at)
  if key_state.state then key_state.is_new = true end
end

-- Begins at the first booking that is due: a state that has expired by now may still count then.
local function begin(key_state, override_ended)
  local algorithm, queue, from = key_state.algorithm, key_state.queue, now
  if #queue > 0 then from = math.min(now, queue[1]) end
  local state = live(key_state.state, from)
  if state then
    key_state.state = algorithm.normalize(key_state.parameters, state, now)
    if key_state.state ~= state then
      if key_state.override == '' and not key_state.normalized and not algorithm.last then
        key_state.read, key_state.adapted = state, key_state.state
      end
      key_state.changed, key_state.normalized = true, true
    end
  else
    start(key_state, from)
  end
  normalize_policy_state(key_state, from)
  if #queue > 0 then
    local outdated = key_state.changed or key_state.is_new
    local due = remove_due(key_state)
    -- Bookings made under an ended override count at most as one whole limit.
    for i = 1, #due, 2 do spend(key_state, override_ended and absorb or book, due[i], due[i + 1]) end
    if outdated then
      project_end(key_state)
    else
      key_state.queue_end_state = algorithm.normalize(key_state.parameters, key_state.queue_end_state, queue[#queue - 1])
    end
  end
  if key_state.changed or from < now then
    key_state.state, key_state.policy_state = live(key_state.state, now), live(key_state.policy_state, now)
    if not key_state.state then start(key_state, now) end
  end
end

local function open(part)
  local key_state = {
    key = keys[offset + part.place], place = part.place, shared = part.shared,
    algorithm = part.algorithm, parameters = part.parameters, policy_parameters = part.parameters,
    cost = part.cost, at = 0, own_moment = 0, changed = false, normalized = false, is_new = false, granted = {},
    seen = now, queue = NOTHING, has_gaps = 0, blocked_until = 0, override = '', override_until = 0,
    escalation = part.escalation, step = 0,
  }
  local envelope = open_entry(key_state.key, part.place, part.shared, part.algorithm)
  key_state.state = envelope.state
  begin(key_state, envelope.queue and open_envelope(key_state, envelope))
  promote(key_state)
  return key_state
end

-- The first moment from `from` on at which the call can take this part's permits and delay no booking; NEVER.
local function earliest(key_state, from)
  local cost = key_state.cost
  -- Permits are saved up from now on, and remain until a later moment that another part requires. An estimate is made once.
  local booking = key_state.booking
  if from > now and ((booking and saving_of(key_state, cost) > 0) or (not booking and key_state.algorithm.last)) then
    return math.max(from, key_state.own_moment)
  end
  return earliest_in_queue(key_state, math.max(from, key_state.blocked_until), cost)
end

-- Is the queue of an `acquire` full, or the wait longer than the policy allows? The time of a block does not count.
local function is_overfull(key_state)
  if not key_state.booking then return false end
  if #key_state.queue >= 2 * math.min(key_state.booking.max_waiting, MOST_BOOKED) then return true end
  local max_wait = key_state.algorithm.max_wait
  if not max_wait or key_state.own_moment == NEVER then return false end
  return key_state.own_moment - math.max(now, key_state.blocked_until) > max_wait(key_state.parameters, key_state.cost)
end

-- Takes the part's permits at the moment, or books them for then.
local function take_or_book(key_state, moment)
  local cost = key_state.cost
  if cost == 0 then return end
  key_state.changed = true
  if moment <= now then
    spend(key_state, take, now, cost)
    if #key_state.queue > 0 then project_end(key_state) end
  else
    add_booking(key_state, moment, cost, moment > key_state.own_moment)
  end
  local last = key_state.algorithm.last
  if last then key_state.at = last(key_state.state) else key_state.at = moment end
end

local function charge(key_state)
  local before = key_state.policy_state
  take_or_book(key_state, now)
  charge_policy_state(key_state, before)
end

-- how: of the algorithm; by default its refund.
local function refund(key_state, at, how)
  local give_back = how or key_state.algorithm.refund
  if not key_state.algorithm.last then
    -- If the clock jitters, permits may have been taken at a later moment than now.
    if cancel_booking(key_state, at, key_state.cost) or at - now > JITTER then return end
  end
  refund_policy_state(key_state, at, give_back)
  local before = key_state.state
  if not before then return end
  key_state.state = live(give_back(key_state.parameters, before, now, key_state.cost, at), now)
  if key_state.state == before then return end
  key_state.changed = true
  promote(key_state)
  look_for_gaps(key_state)
end

-- Denies all calls for `micros` µs from now, 0 to end that.
local function block(key_state, micros)
  key_state.changed, key_state.blocked_until = true, micros > 0 and now + micros or 0
  promote(key_state)
  look_for_gaps(key_state)
end

local function reset(key_state)
  if key_state.algorithm.promote and key_state.state then key_state.granted[#key_state.granted + 1] = EVERYONE end
  key_state.changed, key_state.state, key_state.policy_state = true, nil, nil
  key_state.queue, key_state.has_gaps, key_state.blocked_until = NOTHING, 0, 0
  if key_state.escalation then write(key_state.place + 1, nil, 0) end
end

local function usage(key_state)
  local remaining, reset = key_state.algorithm.usage(key_state.parameters, key_state.state, now)
  remaining, reset = usage_with_queue(key_state, remaining, reset)
  if key_state.blocked_until > now then return 0, math.max(reset, key_state.blocked_until - now) end
  return remaining, reset
end

-- Must the entry be written? A peek writes only what the clock or the policy changed: otherwise each would compute the same wait again.
-- A refund to a new key does not write it.
local function is_kept(key_state, operation)
  if operation == 'peek' then return key_state.normalized end
  return key_state.changed or (key_state.is_new and operation ~= 'refund')
end

-- The keep-alive time of a shared rate begins when the last booked call gets its permits.
local function keep_alive(key_state)
  local shared = key_state.shared
  local alive = ceil((math.max(key_state.at, now) - now + shared.keep_alive) / 1000)
  if call('PTTL', shared.key) < alive then call('PEXPIRE', shared.key, format('%.0f', alive)) end
end

local function close(key_state)
  for i = 1, #key_state.granted do call('PUBLISH', key_state.key, format('%.0f', key_state.granted[i])) end
  -- A block leaves the state as it was read: see key-state.ts.
  if key_state.leaves_state and key_state.adapted and #key_state.queue == 0 and key_state.state == key_state.adapted then
    key_state.state = key_state.read
  end
  local entry, expiry = entry_of(key_state)
  write(key_state.place, entry, math.max(expiry, policy_end(key_state)))
end
