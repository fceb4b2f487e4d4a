-- The twin of wait-queue.ts: permits that are booked for later, as a list: moment, cost, moment, cost, … in the order of the moments.

-- Each call reads and writes all bookings.
local MOST_BOOKED = 1000
-- A gap of hours has a billion moments: after this many tries in all gaps, each further gap gets one try.
local MOST_LATER = 100

-- Computes queue_end_state, the state after all bookings, again: the state or the queue has changed.
local function project_end(key_state)
  local state, queue = key_state.state, key_state.queue
  for i = 1, #queue, 2 do state = book(key_state, state, queue[i], queue[i + 1]) end
  key_state.queue_end_state = state
end

-- The same, if a later call may now find a moment before the last booking.
local function look_for_gaps(key_state)
  if #key_state.queue == 0 then return end
  key_state.has_gaps = 1
  project_end(key_state)
end

-- Removes the bookings that are due, and returns them.
local function remove_due(key_state)
  local queue, due, rest = key_state.queue, {}, {}
  for i = 1, #queue, 2 do
    local list = queue[i] <= now and due or rest
    list[#list + 1], list[#list + 2] = queue[i], queue[i + 1]
  end
  if #due > 0 then
    key_state.queue = rest
    if #rest == 0 then key_state.has_gaps = 0 end
  end
  return due
end

-- The moment, if a call then delays no booking from the place `from` on. Otherwise the next moment worth trying: see wait-queue.ts.
local function try_moment(key_state, before, from, moment, cost)
  local queue, state = key_state.queue, book(key_state, before, moment, cost)
  local anchored, start, last, later = key_state.algorithm.anchored, nil, nil, math.huge
  if anchored and anchored(key_state.parameters) then
    start, last = full_at(key_state, before, moment), full_at(key_state, state, moment)
  end
  for i = from, #queue, 2 do
    local at = queue[i]
    if last and at >= last then
      later = start > moment and start or moment + at - last + 1
      last = nil
    end
    if wait_of(key_state, state, at, queue[i + 1], true) ~= 0 then return later end
    state = book(key_state, state, at, queue[i + 1])
    if last then last = full_at(key_state, state, at) end
  end
  return moment
end

-- The same as next_moment, with the margin and the gap of an acquire. previous: the moment of the booking before, or 0.
local function next_with_margin(key_state, state, start, cost, previous)
  local booking = key_state.booking
  local moment = next_moment(key_state, state, start, cost, booking)
  if not booking or booking.margin + booking.gap == 0 or key_state.algorithm.last or moment == now or moment == NEVER then return moment end
  -- Permits that have been back for the margin need no more of it.
  local back = next_moment(key_state, state, math.max(now, start - booking.margin), cost, true)
  return math.max(moment, previous + booking.gap, back == now and 0 or back + booking.margin)
end

-- The first moment from `first` on at which a call can take `cost` and delay no booking; NEVER.
local function earliest_in_queue(key_state, first, cost)
  local queue = key_state.queue
  local size = #queue
  if cost == 0 then return first end
  if size == 0 then return next_with_margin(key_state, key_state.state, first, cost, 0) end
  local last = queue[size - 1]
  -- A call that saves up gets the end: it needs all permits that flow in while it waits.
  if key_state.has_gaps == 0 or first >= last or (key_state.booking and saving_of(key_state, cost) > 0) then
    return next_with_margin(key_state, key_state.queue_end_state, math.max(first, last), cost, last)
  end
  local state, tries = key_state.state, 0
  for i = 1, size, 2 do
    local next = queue[i]
    if next > first then
      local previous = queue[i - 2] or 0
      local moment = next_with_margin(key_state, state, math.max(first, previous), cost, previous)
      if moment == NEVER then return NEVER end
      while moment < next do
        local better = try_moment(key_state, state, i, moment, cost)
        if better == moment then return moment end
        tries = tries + 1
        if tries > MOST_LATER then break end
        moment = better
      end
    end
    state = book(key_state, state, next, queue[i + 1])
  end
  return next_with_margin(key_state, state, last, cost, last)
end

-- early: this part alone could have had an earlier moment, so another call can.
local function add_booking(key_state, moment, cost, early)
  local queue, size = {}, #key_state.queue
  if early then key_state.has_gaps = 1 end
  local place = size
  while place > 0 and key_state.queue[place - 1] > moment do place = place - 2 end
  for i = 1, place do queue[i] = key_state.queue[i] end
  queue[place + 1], queue[place + 2] = moment, cost
  for i = place + 1, size do queue[i + 2] = key_state.queue[i] end
  key_state.queue = queue
  if place < size then return project_end(key_state) end
  local before = key_state.queue_end_state
  if size == 0 then before = key_state.state end
  key_state.queue_end_state = book(key_state, before, moment, cost)
end

-- Returns whether anything was booked for `at`.
local function cancel_booking(key_state, at, cost)
  local queue, rest = {}, cost
  for i = 1, #key_state.queue do queue[i] = key_state.queue[i] end
  local place = #queue - 1
  while place >= 1 and not (queue[place] == at and queue[place + 1] == cost) do place = place - 2 end
  if place < 1 then place = #queue - 1 end
  while place >= 1 and rest > 0 do
    if queue[place] == at then
      local back = math.min(rest, queue[place + 1])
      rest = rest - back
      queue[place + 1] = queue[place + 1] - back
      if queue[place + 1] == 0 then
        table.remove(queue, place)
        table.remove(queue, place)
      end
      if place < #queue then key_state.has_gaps = 1 end
    end
    place = place - 2
  end
  if rest == cost then return false end
  key_state.changed = true
  key_state.queue = queue
  if #queue == 0 then key_state.has_gaps = 0 end
  project_end(key_state)
  return true
end

-- Permits that a call can take without delaying a booking: the fewest that are left at any of them.
local function usage_with_queue(key_state, remaining, reset)
  local algorithm, parameters, queue = key_state.algorithm, key_state.parameters, key_state.queue
  local size = #queue
  if size == 0 then return remaining, reset end
  local last = queue[size - 1]
  local _, rest = algorithm.usage(parameters, state_at(key_state, key_state.queue_end_state, last), last)
  if key_state.has_gaps == 0 then remaining = 0 end
  local state = key_state.state
  for i = 1, size, 2 do
    if remaining <= 0 then break end
    state = book(key_state, state, queue[i], queue[i + 1])
    remaining = math.min(remaining, (algorithm.usage(parameters, state, queue[i])))
  end
  return remaining, last - now + rest
end
