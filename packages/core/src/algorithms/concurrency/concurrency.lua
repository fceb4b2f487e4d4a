-- @tag cc
-- The twin of semaphore.ts: permits that are held until they are released or their lease ends.
-- parameters: limit (permits), lease (µs), queue (the most waiting calls)
-- state:      latest lease end (µs), last id given, number of holders,
--             id, lease end (µs), cost of each holder, in the order in which the leases end
--             id, lease end (µs), cost of each waiting call, in the order of arrival
-- A place is the number of a holder or waiting call, from 1; its 24 bytes begin behind byte 24 * place.

local function entry(state, place)
  return unpack('>ddd', state, place * 24 + 1)
end

local function places(state)
  return #state / 24 - 1
end

local function find(state, id)
  for place = 1, places(state) do
    if (unpack('>d', state, place * 24 + 1)) == id then return place end
  end
  return nil
end

-- The state with a new head, and with `bytes` for the places from `from` to `to`.
local function spliced(state, latest, last, holders, from, to, bytes)
  return pack('>ddd', latest, last, holders) .. string.sub(state, 25, from * 24)
    .. bytes .. string.sub(state, to * 24 + 25)
end

local function count(limit, state, now)
  local queue, all = number(state, 3), places(state)
  if queue > all then damaged() end
  local held, holders, waiting = 0, 0, 0
  local gone
  for place = 1, all do
    local till, cost = unpack('>dd', state, place * 24 + 9)
    if not (till % 1 == 0 and cost % 1 == 0 and cost >= 0) then damaged() end
    if till <= now or (place > queue and cost > limit) then
      gone = gone or {}
      gone[place] = true
    elseif place > queue then
      waiting = waiting + 1
    else
      held, holders = held + cost, holders + 1
    end
  end
  -- The sum of costs is exact.
  if not is_whole(held) then damaged() end
  if not gone then return state, held, waiting, holders end
  local parts = { pack('>ddd', number(state, 1), number(state, 2), holders) }
  for place = 1, all do
    if not gone[place] then parts[#parts + 1] = string.sub(state, place * 24 + 1, place * 24 + 24) end
  end
  return table.concat(parts), held, waiting, holders
end

-- The state without ended leases, permits held, number of waiting calls, number of holders. The functions of one decision need this of
-- the same state, so the last result is kept.
local seen, seen_at, seen_limit, list, held, waiting, holders
local function living(limit, state, now)
  if seen ~= state or seen_at ~= now or seen_limit ~= limit then
    seen, seen_at, seen_limit = state, now, limit
    list, held, waiting, holders = count(limit, state, now)
  end
  return list, held, waiting, holders
end

-- An empty list keeps the last id until the clock has passed it.
local function sealed(lease, state, now)
  local _, last, holders = entry(state, 0)
  local latest = math.min(last + 1, now + lease)
  for place = math.max(1, holders), places(state) do latest = math.max(latest, number(state, place * 3 + 2)) end
  if latest <= now then return nil end
  return pack('>d', latest) .. string.sub(state, 9)
end

-- The state with one more behind place `place`; it then has `holders` holders.
local function admit(lease, state, now, cost, place, holders)
  if not state then return pack('>dddddd', now + lease, now, holders, now, now + lease, cost) end
  local latest, last = unpack('>dd', state)
  local id = math.max(now, last + 1)
  local bytes = pack('>ddd', id, now + lease, cost)
  return spliced(state, math.max(latest, now + lease), id, holders, place + 1, place, bytes)
end

-- µs until a call gets `cost` behind the waiting calls before the place `before`, if no call releases, renews or leaves; and the sum of the
-- times for which the holders have held their permits.
local function wait_until(p, state, held, now, cost, before)
  local limit, lease = p[1], p[2]
  local ends, costs = {}, {}
  local holders, age = number(state, 3), 0
  for place = 1, holders do
    local id, till, share = entry(state, place)
    ends[place], costs[place] = till, share
    if id < now then age = age + now - id end
  end
  local time, free, following, first = now, limit - held, holders + 1, 1
  for _ = 0, 2 * places(state) do
    local head
    while following < before do
      local _, till, share = entry(state, following)
      if till > time then
        if share > free then
          head = till
          break
        end
        ends[#ends + 1], costs[#costs + 1] = time + lease, share
        free = free - share
      end
      following = following + 1
    end
    if not head and cost <= free then return time - now, age end
    time = math.min(ends[first] or math.huge, head or math.huge)
    while ends[first] and ends[first] <= time do
      free = free + costs[first]
      first = first + 1
    end
  end
  damaged()
end

-- The first result of wait_until, and about when the call gets its permits: see semaphore.ts.
local function estimate_wait(p, state, held, now, cost, before)
  local exact, age = wait_until(p, state, held, now, cost, before)
  local holders, missing = number(state, 3), cost + held - p[1]
  for place = holders + 1, before - 1 do
    local _, _, share = entry(state, place)
    missing = missing + share
  end
  local estimate = ceil(age * missing / (holders * held))
  if estimate > 0 and estimate < exact then return exact, estimate end
  return exact, exact
end

-- No lease ends later than one lease from now.
local function normalize(p, state, now)
  local latest = now + p[2]
  if number(state, 1) <= latest then return state end
  local parts = { pack('>d', latest), string.sub(state, 9, 24) }
  for place = 1, places(state) do
    local id, till, cost = entry(state, place)
    parts[#parts + 1] = pack('>ddd', id, math.min(till, latest), cost)
  end
  return table.concat(parts)
end

-- The exact wait, and an estimate.
local function waits(p, state, now, cost)
  if cost == 0 then return 0, 0 end
  if cost > p[1] then return NEVER, NEVER end
  if not state then return 0, 0 end
  local list, held, waiting = living(p[1], state, now)
  if waiting == 0 and held + cost <= p[1] then return 0, 0 end
  return estimate_wait(p, list, held, now, cost, places(list) + 1)
end

local function acquire_wait(p, state, now, cost)
  return (waits(p, state, now, cost))
end

local function wait(p, state, now, cost)
  local _, estimate = waits(p, state, now, cost)
  return estimate
end

-- The new holder's id is `last`. The sum of costs saturates, so that it stays exact.
local function take(p, state, now, cost)
  if not state then return admit(p[2], nil, now, cost, 0, 1) end
  local list, held, _, holders = living(p[1], state, now)
  return admit(p[2], list, now, math.min(cost, LARGEST - held), holders, holders + 1)
end

-- `at` is the id of a holder, all of whose permits come back, or of a waiting call, which leaves.
local function refund(p, state, now, cost, at)
  local place = at ~= ANY and find(state, at)
  if not place then return state end
  local latest, last, holders = entry(state, 0)
  if place <= holders then holders = holders - 1 end
  return sealed(p[2], spliced(state, latest, last, holders, place, place, ''), now)
end

local function usage(p, state, now)
  if not state then return p[1], 0 end
  local list, held, waiting, holders = living(p[1], state, now)
  local reset = 0
  if holders > 0 then reset = number(list, holders * 3 + 2) - now end
  if waiting > 0 then return 0, reset end
  return math.max(0, p[1] - held), reset
end

local function last(state)
  return number(state, 2)
end

-- The same state if the queue is full. most: calls that may wait, if the policy lets more.
local function join(p, state, now, cost, most)
  local list, waiting, holders, _ = state, 0, 0
  if state then list, _, waiting, holders = living(p[1], state, now) end
  if waiting >= math.min(p[3], most) then return state end
  return admit(p[2], list, now, cost, holders + waiting, holders)
end

-- A lease that has ended is not renewed: another call may have been promised its permits.
local function renew(p, state, now, id)
  local list, _, _, holders = living(p[1], state, now)
  local place = find(list, id)
  if not place then return list end
  local latest, newest = unpack('>dd', list)
  local _, _, cost = entry(list, place)
  local bytes, to = pack('>ddd', id, now + p[2], cost), place
  if place <= holders then
    to = holders
    bytes = string.sub(list, place * 24 + 25, holders * 24 + 24) .. bytes
  end
  return spliced(list, math.max(latest, now + p[2]), newest, holders, place, to, bytes)
end

local function holder_status(state, id)
  local place = find(state, id)
  if not place then return -1 end
  return place <= number(state, 3) and 1 or 0
end

local function remaining_wait(p, state, now, id)
  local list, held, _, holders = living(p[1], state, now)
  local place = find(list, id)
  if not place or place <= holders then return 1, 1 end
  local _, _, cost = entry(list, place)
  local exact, estimate = estimate_wait(p, list, held, now, cost, place)
  return math.max(1, exact), math.max(1, estimate)
end

local function promote(p, state, now)
  local list, held, waiting, holders = living(p[1], state, now)
  local granted, parts, free = {}, {}, p[1] - held
  for place = holders + 1, holders + waiting do
    local id, _, cost = entry(list, place)
    if cost > free then break end
    free = free - cost
    granted[#granted + 1] = id
    parts[#parts + 1] = pack('>ddd', id, now + p[2], cost)
  end
  local count = #granted
  if count == 0 and list == state then return state, granted end
  local latest, newest = unpack('>dd', list)
  local bytes = table.concat(parts)
  return sealed(p[2], spliced(list, latest, newest, holders + count, holders + 1, holders + count, bytes), now), granted
end

return {
  least = 24, step = 24, parameters = 3, normalize = normalize, wait = wait, acquire_wait = acquire_wait, take = take, refund = refund, usage = usage, last = last, join = join, renew = renew,
  holder_status = holder_status, remaining_wait = remaining_wait, promote = promote,
}
