-- Overrides: other parameters of a key, for some time. Permits that the key takes meanwhile also count under the policy's own parameters,
-- except held permits, which have one state for both. In TypeScript the fields `#policy` and `#counter` of key-state.ts.

local function counts_twice(key_state)
  return key_state.override ~= '' and not key_state.algorithm.last
end

-- Drops a policy's state that has expired at `from`, and normalizes any other.
local function normalize_policy_state(key_state, from)
  local known = live(key_state.policy_state, from)
  key_state.policy_state = known and key_state.algorithm.normalize(key_state.policy_parameters, known, now)
  if key_state.policy_state ~= known then key_state.changed, key_state.normalized = true, true end
end

-- A penalty counts in full. before: the policy's state without it.
local function charge_policy_state(key_state, before)
  if key_state.cost == 0 or not counts_twice(key_state) then return end
  key_state.policy_state =
    key_state.algorithm.take(key_state.policy_parameters, state_at(key_state, before, now), now, key_state.cost)
end

local function refund_policy_state(key_state, at, give_back)
  local before = key_state.policy_state
  if not before then return end
  key_state.policy_state =
    live(give_back(key_state.policy_parameters, before, now, key_state.cost, at), now)
  if key_state.policy_state ~= before then key_state.changed = true end
end

-- When the policy's state expires after all bookings; 0 without any.
local function policy_end(key_state)
  local state, queue = key_state.policy_state, key_state.queue
  if #queue == 0 or not counts_twice(key_state) then return 0 end
  for i = 1, #queue, 2 do state = absorb(key_state, state, queue[i], queue[i + 1]) end
  return number(state, 1)
end

-- The parameters of an override, with the calendar of the policy.
local function completed(key_state, parameters)
  local complete = key_state.algorithm.complete
  return complete and complete(parameters, key_state.policy_parameters) or parameters
end

local function begin_override(key_state, given, micros)
  local parameters = completed(key_state, given)
  local algorithm, state, before = key_state.algorithm, key_state.state, counts_twice(key_state)
  key_state.override, key_state.override_until = packed(given), now + micros
  if not before and counts_twice(key_state) then key_state.policy_state = state end
  if state then
    if algorithm.translate then state = algorithm.translate(key_state.parameters, parameters, state, now) end
    -- Normalized to the override's parameters now, instead of at the next read.
    key_state.state = live(algorithm.normalize(parameters, state, now), now)
  end
  key_state.parameters = parameters
end

local function end_override(key_state)
  if counts_twice(key_state) then key_state.state = key_state.policy_state end
  key_state.override, key_state.override_until = '', 0
  key_state.policy_state, key_state.parameters = nil, key_state.policy_parameters
end
