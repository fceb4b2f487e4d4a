-- The twin of counter.ts: an algorithm with its parameters, applied to states at any moment.
-- An algorithm is a table of the functions that `Algorithm` in algorithm.ts describes, with names in snake case.
-- A state is the text of its numbers, as eight-byte doubles; the first is the moment at which it expires.

local NEVER, ANY = -1, -1
local LONGEST = 315360000000000
-- µs: a clock that goes back by no more trembles; see algorithm.ts.
local JITTER = 10000
local NOTHING = {}
local ceil = math.ceil

-- Exact for whole numbers below 2^53: see meter.ts.
local function up(a, b)
  return ceil(a / b)
end

local function down(a, b)
  return floor(a / b)
end

local function algorithm_of(tag)
  -- @algorithms
  error('SLUICE unknown algorithm: ' .. tostring(tag))
end

local algorithms = {}
local function with_algorithm(rule)
  rule.algorithm = algorithms[rule.tag] or algorithm_of(rule.tag)
  algorithms[rule.tag] = rule.algorithm
  return rule
end

local function live(state, at)
  if state and number(state, 1) > at then return state end
  return nil
end

-- The state, if the algorithm has states of that many bytes.
local function sized(algorithm, state)
  if not state then return nil end
  local size, least = #state, algorithm.least
  if size < least or size > (algorithm.most or size) or (size - least) % algorithm.step ~= 0 then damaged() end
  return state
end

-- Until when a key is kept that holds the state and nothing else.
local function kept_until(algorithm, state)
  if not state then return 0 end
  return algorithm.kept_until and algorithm.kept_until(state) or number(state, 1)
end

-- A known key is full once its state has expired. A new key may begin with less.
local function state_at(key_state, state, at)
  if key_state.algorithm.initial_state then return state end
  return live(state, at)
end

local function take(key_state, state, at, cost)
  return key_state.algorithm.take(key_state.parameters, state_at(key_state, state, at), at, cost)
end

-- The state after a call took the permits that were booked for `at`.
local function book(key_state, state, at, cost)
  local run = key_state.algorithm.book
  if run then return run(key_state.parameters, state, at, cost) end
  return take(key_state, state, at, cost)
end

-- The state under the policy's own parameters after a call that other parameters allowed.
local function absorb(key_state, state, at, cost)
  local run = key_state.algorithm.absorb or key_state.algorithm.take
  return run(key_state.policy_parameters, state_at(key_state, state, at), at, cost)
end

-- µs that acquire waits at least, because its cost is above the capacity.
local function saving_of(key_state, cost)
  local saving = key_state.algorithm.saving
  return saving and saving(key_state.parameters, cost) or 0
end

local function wait_of(key_state, state, at, cost, shaped)
  local algorithm = key_state.algorithm
  local wait = shaped and algorithm.acquire_wait or algorithm.wait
  return wait(key_state.parameters, state_at(key_state, state, at), at, cost)
end

-- The first moment from `from` on at which a call can take `cost`; NEVER. shaped: as acquire takes it.
local function next_moment(key_state, state, from, cost, shaped)
  local wait = wait_of(key_state, state, from, cost, shaped)
  if wait == NEVER then return NEVER end
  return from + wait
end

-- The moment at which every permit is back, if no other call comes.
local function full_at(key_state, state, at)
  local _, reset = key_state.algorithm.usage(key_state.parameters, state_at(key_state, state, at), at)
  return at + reset
end
