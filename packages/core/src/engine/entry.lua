-- The twin of entry.ts: what a key holds. A bare state, or an envelope:
--   E  the sizes (bytes) of state, queue_end_state and queue, has_gaps, seen, blocked_until, override_until; then those three
--   O  the same, and after override_until the size of policy_state; then those three, policy_state, the override's parameters
-- and before the entry of a shared rate an S and rate_version. All numbers are eight-byte doubles.

-- First bytes. A state begins with a moment after 1987 in µs.
local MOMENT, ENVELOPE, OVERRIDDEN, SHARED = 67, 69, 79, 83

-- When a key expires, from its envelope or its key_state.
local function expiry_of(entry)
  local queue, expiry = entry.queue, math.max(entry.blocked_until, entry.override_until)
  if entry.state then expiry = math.max(expiry, number(entry.state, 1)) end
  if entry.policy_state then expiry = math.max(expiry, number(entry.policy_state, 1)) end
  if #queue > 0 then expiry = math.max(expiry, number(entry.queue_end_state, 1), queue[#queue - 1]) end
  return expiry
end

-- The envelope of a key, or its bare state; an empty table if it holds none, an expired one, or one of another version of a shared rate.
local function open_entry(key, place, shared, algorithm)
  local raw = read(place)
  if raw and shared then
    if byte(raw) ~= SHARED or #raw < 9 then foreign(key) end
    raw = (unpack('>d', raw, 2)) == shared.rate_version and string.sub(raw, 10)
  end
  if not raw then return {} end
  local kind = byte(raw)
  if kind == MOMENT and #raw % 8 == 0 then return { state = sized(algorithm, raw) } end
  if not ((kind == ENVELOPE and #raw >= 57) or (kind == OVERRIDDEN and #raw >= 65)) then foreign(key) end
  local state_size, end_size, queue_size, has_gaps, seen, blocked_until, override_until =
    unpack('>ddddddd', raw, 2)
  if not (is_whole(state_size) and is_whole(end_size) and is_whole(queue_size) and is_whole(has_gaps) and is_whole(seen)
    and is_whole(blocked_until) and is_whole(override_until)) then damaged() end
  local from = 58
  local function cut(size)
    from = from + size
    if from - 1 > #raw then damaged() end
    return size > 0 and string.sub(raw, from - size, from - 1) or nil
  end
  local policy_size = kind == OVERRIDDEN and number(cut(8), 1)
  local envelope = {
    state = sized(algorithm, cut(state_size)), queue_end_state = sized(algorithm, cut(end_size)), queue = unpacked(cut(queue_size) or ''),
    has_gaps = has_gaps, seen = seen, blocked_until = blocked_until, override_until = override_until,
  }
  if policy_size then
    envelope.policy_state = sized(algorithm, cut(policy_size))
    envelope.override = cut(#raw - from + 1)
  end
  -- Bookings are pairs, and the state after them is known.
  local queue_length = #envelope.queue
  if from <= #raw or queue_size % 16 > 0 or (queue_length > 0) ~= (envelope.queue_end_state ~= nil) then damaged() end
  -- Bookings of an ended override count until they have expired under the policy's own parameters.
  if expiry_of(envelope) <= now and not (policy_size and queue_length > 0) then return {} end
  return envelope
end

-- What a key holds after a call, and until when it is kept.
local function entry_of(key_state)
  local state, queue, override = key_state.state or '', key_state.queue, key_state.override
  if #queue == 0 and key_state.blocked_until == 0 and override == '' and not key_state.shared then
    return state, kept_until(key_state.algorithm, key_state.state)
  end
  local queue_end_state = #queue > 0 and key_state.queue_end_state or ''
  local entry = pack('>ddddddd', #state, #queue_end_state, #queue * 8, key_state.has_gaps, key_state.seen,
    key_state.blocked_until, key_state.override_until)
  if override == '' then
    entry = 'E' .. entry .. state .. queue_end_state .. packed(queue)
  else
    local policy_state = key_state.policy_state or ''
    entry = 'O' .. entry .. pack('>d', #policy_state) .. state .. queue_end_state .. packed(queue) .. policy_state .. override
  end
  if key_state.shared then entry = 'S' .. pack('>d', key_state.shared.rate_version) .. entry end
  return entry, expiry_of(key_state)
end
