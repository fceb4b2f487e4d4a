-- The part of decide.lua that most calls do not need: keys at which somebody waits, is blocked or has an override; several parts;
-- what is held; refunds and changes; and algorithms that spend() does not know. The twin of lane.ts, bookings.ts and decide.ts. See
-- decide.lua for what is used here and not defined.

local pack, unpack, fmod = struct.pack, struct.unpack, math.fmod
local NEVER = -1
local ANY = -1
local LONGEST = 315360000000000
-- µs: a clock that goes back by no more trembles; see algorithm.ts.
local JITTER = 10000
-- First bytes of a stored value: E for an envelope, O for one with an override. A state begins with a moment after 1987 in µs.
local ENVELOPE, OVERRIDDEN = 69, 79

-- math.fmod is exact up to 2^53; a - floor(a / b) * b, which Lua's % does, is not.
local function up(a, b)
  local rest = fmod(a, b)
  if rest > 0 then return (a - rest) / b + 1 end
  return a / b
end

local function number(state, i)
  return (unpack('>d', state, i * 8 - 7))
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

-- What the keys of a visit hold as far as it has come, false for nothing, and until when (µs) what has to be written.
local entries, ends = {}, {}

local function read(place)
  local entry = entries[place]
  if entry == nil then
    entry = call('GET', keys[before + place])
    entries[place] = entry
  end
  return entry
end

local function write(place, entry, forgotten, now)
  entries[place], ends[place] = forgotten > now and entry, forgotten
end

local function leave(place)
  local forgotten = ends[place]
  if not forgotten then return end
  if entries[place] then
    call('SET', keys[before + place], entries[place], 'PX', floor((forgotten - now) / 1000) + 2)
  else
    call('DEL', keys[before + place])
  end
end

-- The same as lanes for what most calls are: one part, whose key holds a bare state or nothing, and nothing to book. Returns how
-- many of `count` equal calls it has decided.
local function bare(rule, operation, cost, count)
  local algorithm, p, taking = rule.algorithm, rule, operation ~= 'peek'
  if algorithm.promote or (taking and operation ~= 'consume' and operation ~= 'acquire') then return 0 end
  local raw = read(1)
  local state, changed = nil, false
  if raw then
    if byte(raw) ~= MOMENT or #raw % 8 ~= 0 then return 0 end
    state = live(raw, now)
  end
  if state then
    state = algorithm.repair(p, raw, now)
    if state ~= raw then state, changed = live(state, now), true end
  elseif algorithm.see then
    state = algorithm.see(p, now)
    changed = taking and state ~= nil
  end

  local ask = operation == 'acquire' and algorithm.due or algorithm.wait
  local done, wait = 0, ask(p, state, now, cost)
  while wait == 0 and taking and cost > 0 and done < count do
    state, changed, done = algorithm.take(p, state, now, cost), true, done + 1
    replies[told + 1], replies[told + 2] = algorithm.left(p, state, now)
    told = told + 2
    if done < count then wait = ask(p, state, now, cost) end
  end
  -- The rest changes nothing, so all of it is told the same.
  if done < count and (wait <= 0 or operation ~= 'acquire') then
    local remaining, reset = algorithm.left(p, state, now)
    replies[told + 1], replies[told + 2], replies[told + 3], replies[told + 4], replies[told + 5] =
      wait == 0 and -5 or -4, count - done, wait, remaining, reset
    told = told + 5
    done = count
  end
  if changed then write(1, state or false, state and number(state, 1) or 0, now) end
  return done
end

-- The queue: moment, cost, moment, cost, …

local function unpacked(packed)
  local numbers = {}
  for i = 1, #packed / 8 do numbers[i] = number(packed, i) end
  return numbers
end

local function packed(numbers)
  local parts = {}
  for i = 1, #numbers do parts[i] = pack('>d', numbers[i]) end
  return table.concat(parts)
end

-- A key that is known is whole when its state has ended, and not one that is met for the first time.
local function as_of(lane, state, at)
  if lane.algorithm.see then return state end
  return live(state, at)
end

local function taken(lane, state, at, cost)
  return lane.algorithm.take(lane.parameters, as_of(lane, state, at), at, cost)
end

-- The state after permits were taken at the promised moment of the call.
local function booked(lane, state, at, cost)
  local book = lane.algorithm.book or lane.algorithm.take
  return book(lane.parameters, as_of(lane, state, at), at, cost)
end

-- µs that acquire waits at least, because its cost is above the capacity.
local function saving_of(lane, cost)
  local saving = lane.algorithm.saving
  return saving and saving(lane.parameters, cost) or 0
end

-- The state under the policy's own parameters after a call that an override allowed.
local function absorbed(lane, state, at, cost)
  local algorithm, parameters = lane.algorithm, lane.own_parameters
  local absorb = algorithm.absorb or algorithm.take
  return absorb(parameters, as_of(lane, state, at), at, cost)
end

local function foresee(lane)
  local tail, queue = lane.state, lane.queue
  for i = 1, #queue, 2 do tail = booked(lane, tail, queue[i], queue[i + 1]) end
  lane.tail = tail
end

local function wait_of(lane, state, at, cost, shaped)
  local algorithm = lane.algorithm
  local ask = shaped and algorithm.due or algorithm.wait
  return ask(lane.parameters, as_of(lane, state, at), at, cost)
end

local function after(lane, state, from, cost, shaped)
  local wait = wait_of(lane, state, from, cost, shaped)
  if wait == NEVER then return NEVER end
  return from + wait
end

-- The moment at which every permit is back, if no other call comes.
local function whole_at(lane, state, at)
  local _, reset = lane.algorithm.left(lane.parameters, as_of(lane, state, at), at)
  return at + reset
end

-- The moment, if a call then delays no booking from the place `from` on. Otherwise the next moment worth trying: see bookings.ts.
-- A gap of hours has a billion moments: after so many tries in all gaps, each further gap gets one try. See bookings.ts.
local MOST_LATER = 100

local function delaying_nobody(lane, before, from, moment, cost)
  local queue, state = lane.queue, booked(lane, before, moment, cost)
  local anchored, start, last, later = lane.algorithm.anchored, nil, nil, math.huge
  if anchored and anchored(lane.parameters) then
    start, last = whole_at(lane, before, moment), whole_at(lane, state, moment)
  end
  for i = from, #queue, 2 do
    local at = queue[i]
    if last and at >= last then
      later = start > moment and start or moment + at - last + 1
      last = nil
    end
    if wait_of(lane, state, at, queue[i + 1], true) ~= 0 then return later end
    state = booked(lane, state, at, queue[i + 1])
    if last then last = whole_at(lane, state, at) end
  end
  return moment
end

local function earliest(lane, from, cost, shaped)
  local saves = shaped and saving_of(lane, cost) > 0
  if saves and from > lane.now then return math.max(from, lane.own) end
  local first, queue = math.max(from, lane.blocked_until), lane.queue
  local size = #queue
  if cost == 0 then return first end
  if size == 0 then return after(lane, lane.state, first, cost, shaped) end
  local last = queue[size - 1]
  -- A call that saves up goes to the end.
  if lane.gaps == 0 or first >= last or saves then return after(lane, lane.tail, math.max(first, last), cost, shaped) end
  local state, tries = lane.state, 0
  for i = 1, size, 2 do
    local next = queue[i]
    if next > first then
      local start = first
      if i > 1 then start = math.max(first, queue[i - 2]) end
      local moment = after(lane, state, start, cost, shaped)
      if moment == NEVER then return NEVER end
      while moment < next do
        local better = delaying_nobody(lane, state, i, moment, cost)
        if better == moment then return moment end
        tries = tries + 1
        if tries > MOST_LATER then break end
        moment = better
      end
    end
    state = booked(lane, state, next, queue[i + 1])
  end
  return after(lane, state, last, cost, shaped)
end

-- Lanes: what a part's key holds, opened at the moment now.

local NOTHING = {}
-- Instead of an id: all waiting calls have lost their places and should poll again.
local EVERYONE = -1
-- Every one of them is read and written with each call.
local MOST_BOOKED = 1000
-- Each try passes somebody who is booked; no script may go on for ever.
local MOST_TRIES = 10000

local function promote(lane)
  local run = lane.algorithm.promote
  if not run or not lane.state then return end
  local state, granted
  if lane.blocked_until > lane.now then
    state, granted = lane.algorithm.renew(lane.parameters, lane.state, lane.now, ANY), NOTHING
  else
    state, granted = run(lane.parameters, lane.state, lane.now)
  end
  if state ~= lane.state then lane.changed = true end
  lane.state = state
  for i = 1, #granted do lane.granted[#lane.granted + 1] = granted[i] end
end

-- Is there an override during which permits also count under the policy's own parameters?
local function counts(lane)
  return lane.override ~= '' and not lane.algorithm.last
end

-- Takes permits at `at`. `how`: taken, booked or absorbed.
local function spend(lane, how, at, cost)
  lane.changed = true
  lane.state = how(lane, lane.state, at, cost)
  if counts(lane) then lane.own_state = absorbed(lane, lane.own_state, at, cost) end
end

local function open(part, now)
  local key, algorithm = keys[before + part.place], part.algorithm
  local lane = {
    key = key, place = part.place, algorithm = algorithm, cost = part.cost, now = now,
    parameters = part.parameters, own_parameters = part.parameters,
    own = 0, at = 0, changed = false, repaired = false, met = false, seen = now, queue = NOTHING, gaps = 0,
    blocked_until = 0, override = '', override_until = 0,
    granted = {}, shared = part.shared,
  }
  local raw, lapsed = read(part.place), false
  if raw and part.shared then
    -- An 'S', the era, an entry: what was written under another setting of the rate counts no more.
    if string.byte(raw) ~= 83 then error('SLUICE foreign value in ' .. key) end
    raw = (unpack('>d', raw, 2)) == part.shared.era and string.sub(raw, 10)
  end
  if raw then
    local kind = string.byte(raw)
    if (kind == ENVELOPE and #raw >= 57) or (kind == OVERRIDDEN and #raw >= 65) then
      local state_size, tail_size, queue_size, gaps, seen, blocked_until, override_until =
        unpack('>ddddddd', raw, 2)
      local from, own_size = 58, 0
      if kind == OVERRIDDEN then from, own_size = 66, (unpack('>d', raw, 58)) end
      if state_size > 0 then lane.state = string.sub(raw, from, from + state_size - 1) end
      from = from + state_size
      if tail_size > 0 then lane.tail = string.sub(raw, from, from + tail_size - 1) end
      from = from + tail_size
      local back = 0
      if seen - now > JITTER then back = seen - now end
      lane.seen = math.max(now, seen - back)
      lane.changed, lane.repaired = back > 0, back > 0
      if queue_size > 0 then
        lane.queue = unpacked(string.sub(raw, from, from + queue_size - 1))
        if back > 0 then
          for i = 1, #lane.queue, 2 do lane.queue[i] = lane.queue[i] - back end
        end
      end
      lane.gaps = gaps
      if blocked_until - back > now then lane.blocked_until = blocked_until - back end
      if kind == OVERRIDDEN then
        from = from + queue_size
        local own_state = own_size > 0 and string.sub(raw, from, from + own_size - 1) or nil
        if override_until - back > now then
          lane.override = string.sub(raw, from + own_size)
          lane.override_until = override_until - back
          lane.parameters = unpacked(lane.override)
          lane.own_state = own_state
        else
          lapsed, lane.changed, lane.repaired = true, true, true
          if not algorithm.last then lane.state = own_state end
        end
      end
    elseif kind == MOMENT and #raw % 8 == 0 then
      lane.state = raw
    else
      error('SLUICE foreign value in ' .. key)
    end
  end

  -- As of the first who is due: for him a state may count that is worth nothing now.
  local queue, from = lane.queue, now
  if #queue > 0 then from = math.min(now, queue[1]) end
  local state = live(lane.state, from)
  if state then
    lane.state = algorithm.repair(lane.parameters, state, now)
    if lane.state ~= state then lane.changed, lane.repaired = true, true end
  else
    lane.state = algorithm.see and algorithm.see(lane.parameters, from)
    if lane.state then lane.met = true end
  end

  local own_state = live(lane.own_state, from)
  lane.own_state = own_state and algorithm.repair(lane.own_parameters, own_state, now)
  if lane.own_state ~= own_state then lane.changed, lane.repaired = true, true end

  if #queue > 0 then
    local gone, anew = 0, lane.changed or lane.met
    while gone < #queue and queue[gone + 1] <= now do
      spend(lane, lapsed and absorbed or booked, queue[gone + 1], queue[gone + 2])
      gone = gone + 2
    end
    if gone > 0 then
      local rest = {}
      for i = gone + 1, #queue do rest[i - gone] = queue[i] end
      lane.queue = rest
      if #rest == 0 then lane.gaps = 0 end
    end
    if anew then
      foresee(lane)
    else
      lane.tail = algorithm.repair(lane.parameters, lane.tail, queue[#queue - 1])
    end
  end
  if lane.changed or from < now then
    lane.state, lane.own_state = live(lane.state, now), live(lane.own_state, now)
  end
  promote(lane)
  return lane
end

-- A shared rate is kept for as long after the last who waits for it as after any other use of it.
local function keep(shared, moment, now)
  local alive = math.ceil((math.max(moment, now) - now + shared.keep_alive) / 1000)
  if call('PTTL', shared.key) < alive then call('PEXPIRE', shared.key, string.format('%.0f', alive)) end
end

-- A peek writes no more than what the clock or the policy changed: measured anew by each, no wait would become shorter. And to
-- give something back to a key that is met for the first time is not to use it.
local function kept(lane, operation)
  if operation == 'peek' then return lane.repaired end
  return lane.changed or (lane.met and operation ~= 'refund')
end

local function close(lane)
  for i = 1, #lane.granted do call('PUBLISH', lane.key, string.format('%.0f', lane.granted[i])) end
  local state, queue = lane.state or '', lane.queue
  local forgotten = 0
  if lane.state then forgotten = number(lane.state, 1) end
  local kept = state
  if #queue > 0 or lane.blocked_until > 0 or lane.override ~= '' or lane.shared then
    local tail = ''
    if #queue > 0 then
      tail = lane.tail
      forgotten = math.max(forgotten, number(tail, 1), queue[#queue - 1])
    end
    forgotten = math.max(forgotten, lane.blocked_until, lane.override_until)
    kept = pack('>ddddddd', #state, #tail, #queue * 8, lane.gaps, lane.seen, lane.blocked_until, lane.override_until)
    if lane.override == '' then
      kept = 'E' .. kept .. state .. tail .. packed(queue)
    else
      local own_state = lane.own_state or ''
      if lane.own_state then forgotten = math.max(forgotten, number(own_state, 1)) end
      kept = 'O' .. kept .. pack('>d', #own_state) .. state .. tail .. packed(queue) .. own_state .. lane.override
    end
  end
  if lane.shared then kept = 'S' .. pack('>d', lane.shared.era) .. kept end
  write(lane.place, kept, forgotten, lane.now)
end

local function take(lane, moment)
  local cost = lane.cost
  if cost == 0 then return end
  lane.changed = true
  if moment <= lane.now then
    spend(lane, taken, lane.now, cost)
    if #lane.queue > 0 then foresee(lane) end
  else
    local queue, size = {}, #lane.queue
    if moment > lane.own then lane.gaps = 1 end
    local place = size
    while place > 0 and lane.queue[place - 1] > moment do place = place - 2 end
    for i = 1, place do queue[i] = lane.queue[i] end
    queue[place + 1], queue[place + 2] = moment, cost
    for i = place + 1, size do queue[i + 2] = lane.queue[i] end
    lane.queue = queue
    if place < size then
      foresee(lane)
    elseif size == 0 then
      lane.tail = booked(lane, lane.state, moment, cost)
    else
      lane.tail = booked(lane, lane.tail, moment, cost)
    end
  end
  local last = lane.algorithm.last
  if last then lane.at = last(lane.state) else lane.at = moment end
end

-- A penalty counts in full under the policy's own parameters, too.
local function charge(lane)
  local own_state = lane.own_state
  take(lane, lane.now)
  if lane.cost == 0 or not counts(lane) then return end
  lane.own_state = lane.algorithm.take(lane.own_parameters, as_of(lane, own_state, lane.now), lane.now, lane.cost)
end

local function cancel(lane, at, cost)
  local queue, left = {}, cost
  for i = 1, #lane.queue do queue[i] = lane.queue[i] end
  local place = #queue - 1
  while place >= 1 and not (queue[place] == at and queue[place + 1] == cost) do place = place - 2 end
  if place < 1 then place = #queue - 1 end
  while place >= 1 and left > 0 do
    if queue[place] == at then
      local back = math.min(left, queue[place + 1])
      left = left - back
      queue[place + 1] = queue[place + 1] - back
      if queue[place + 1] == 0 then
        table.remove(queue, place)
        table.remove(queue, place)
      end
      if place < #queue then lane.gaps = 1 end
    end
    place = place - 2
  end
  if left == cost then return end
  lane.changed = true
  lane.queue = queue
  if #queue == 0 then lane.gaps = 0 end
  foresee(lane)
end

local function reconsider(lane)
  if #lane.queue == 0 then return end
  lane.gaps = 1
  foresee(lane)
end

local function refund(lane, at)
  if at > lane.now and not lane.algorithm.last then
    return cancel(lane, at, lane.cost)
  end
  local own_state = lane.own_state
  if own_state then
    lane.own_state = live(lane.algorithm.give(lane.own_parameters, own_state, lane.now, lane.cost, at), lane.now)
    if lane.own_state ~= own_state then lane.changed = true end
  end
  if lane.state then
    local before = lane.state
    local state = lane.algorithm.give(lane.parameters, before, lane.now, lane.cost, at)
    lane.state = live(state, lane.now)
    if lane.state == before then return end
    lane.changed = true
    promote(lane)
    reconsider(lane)
  end
end

local function left(lane)
  local algorithm, parameters, now, queue = lane.algorithm, lane.parameters, lane.now, lane.queue
  local remaining, reset = algorithm.left(parameters, lane.state, now)
  local size = #queue
  if size > 0 then
    local last = queue[size - 1]
    local _, rest = algorithm.left(parameters, as_of(lane, lane.tail, last), last)
    reset = last - now + rest
    if lane.gaps == 0 then remaining = 0 end
    local state = lane.state
    for i = 1, size, 2 do
      if remaining <= 0 then break end
      state = booked(lane, state, queue[i], queue[i + 1])
      remaining = math.min(remaining, (algorithm.left(parameters, state, queue[i])))
    end
  end
  if lane.blocked_until > now then
    remaining = 0
    reset = math.max(reset, lane.blocked_until - now)
  end
  return remaining, reset
end

-- Calls.

local function reply(lanes, now, verdict, wait)
  local n = told + 2
  replies[n - 1], replies[n] = -6 - verdict, wait
  for i = 1, #lanes do
    local lane = lanes[i]
    local remaining, reset = left(lane)
    local own = NEVER
    if lane.own ~= NEVER then own = lane.own - now end
    local override = lane.parameters
    if lane.override == '' and not lane.shared then override = NOTHING end
    replies[n + 1], replies[n + 2], replies[n + 3], replies[n + 4], replies[n + 5] =
      remaining, own, reset, lane.at, #override
    for p = 1, #override do replies[n + 5 + p] = override[p] end
    n = n + 5 + #override
  end
  told = n
end

local function together(lanes, shaped)
  local moment = lanes[1].own
  if #lanes == 1 then return moment end
  for i = 1, #lanes do
    if lanes[i].own == NEVER then return NEVER end
    moment = math.max(moment, lanes[i].own)
  end
  local agreed, i, tries = 0, 1, 0
  while agreed < #lanes do
    tries = tries + 1
    if tries > MOST_TRIES then return NEVER end
    local later = earliest(lanes[i], moment, lanes[i].cost, shaped)
    if later == NEVER then return NEVER end
    if later > moment then agreed = 1 else agreed = agreed + 1 end
    moment = later
    i = i % #lanes + 1
  end
  return moment
end

local function admit(lanes, now, longest, shaped, taking)
  local overfull, held = false, false
  for i = 1, #lanes do
    local lane = lanes[i]
    lane.own = shaped and saving_of(lane, lane.cost) > longest and NEVER or earliest(lane, now, lane.cost, shaped)
    if shaped and lane.algorithm.longest and lane.own ~= NEVER then
      local waits = lane.own - math.max(now, lane.blocked_until)
      if waits > lane.algorithm.longest(lane.parameters, lane.cost) then overfull = true end
    end
    if #lane.queue >= 2 * MOST_BOOKED then overfull = true end
    if lane.algorithm.last then held = true end
  end
  local moment = together(lanes, shaped)
  if moment == NEVER then return reply(lanes, now, 0, NEVER) end
  local wait = moment - now
  if wait > 0 and held then
    local lane, verdict = lanes[1], 0
    if shaped and longest > 0 and #lanes == 1 then
      local state = lane.algorithm.join(lane.parameters, lane.state, now, lane.cost)
      if state ~= lane.state then
        lane.state, lane.changed, lane.at, verdict = state, true, lane.algorithm.last(state), 2
      end
    end
    return reply(lanes, now, verdict, wait)
  end
  if wait > longest or (wait > 0 and overfull) then return reply(lanes, now, 0, wait) end
  if taking then
    for i = 1, #lanes do take(lanes[i], moment) end
  end
  reply(lanes, now, 1, wait)
end

local function renew(lane, now)
  local algorithm, standing, wait = lane.algorithm, -1, 0
  lane.at = lane.asked
  if lane.state then standing = algorithm.standing(lane.state, lane.at) end
  lane.own = now
  if standing >= 0 then
    lane.state = algorithm.renew(lane.parameters, lane.state, now, lane.at)
    lane.changed = true
    if standing == 0 then
      wait = math.max(algorithm.patience(lane.parameters, lane.state, now, lane.at), lane.blocked_until - now)
      lane.own = now + wait
    end
  end
  local verdict = 0
  if standing == 1 then verdict = 1 elseif standing == 0 then verdict = 2 end
  reply({ lane }, now, verdict, wait)
end

local function change(lane, operation, wait)
  lane.own = lane.now
  if operation == 'charge' then
    charge(lane)
  elseif operation == 'refund' then
    refund(lane, lane.asked)
  elseif operation == 'block' then
    lane.changed = true
    lane.blocked_until = wait > 0 and lane.now + wait or 0
    promote(lane)
    reconsider(lane)
  elseif operation == 'override' then
    lane.changed = true
    local algorithm, now, over = lane.algorithm, lane.now, counts(lane)
    lane.override = wait > 0 and packed(lane.others) or ''
    lane.override_until = wait > 0 and now + wait or 0
    if wait > 0 then
      if not over and counts(lane) then lane.own_state = lane.state end
      if lane.state then
        local state, translate = lane.state, algorithm.translate
        if translate then state = translate(lane.parameters, lane.others, state, now) end
        -- Normalized to the override's parameters now, instead of at the next read.
        lane.state = live(algorithm.repair(lane.others, state, now), now)
      end
      lane.parameters = lane.others
    else
      if over then lane.state = lane.own_state end
      lane.own_state, lane.parameters = nil, lane.own_parameters
    end
    promote(lane)
    reconsider(lane)
  elseif operation == 'reset' then
    if lane.algorithm.promote and lane.state then lane.granted[#lane.granted + 1] = EVERYONE end
    lane.changed, lane.state, lane.own_state, lane.queue, lane.gaps, lane.blocked_until = true, nil, nil, NOTHING, 0, 0
  else
    error('SLUICE unknown operation: ' .. operation)
  end
end

-- Operations whose replies include a trace.
local TRACED = { ['traced consume'] = 'consume', ['traced peek'] = 'peek' }

local function tell(numbers)
  local n = told + 1
  replies[n] = #numbers
  for i = 1, #numbers do replies[n + i] = numbers[i] end
  told = n + #numbers
end

local function decide(operation, wait, parts, now)
  local lanes, count, before = {}, #parts, TRACED[operation] and {}
  operation = TRACED[operation] or operation
  for i = 1, count do
    local lane = open(parts[i], now)
    lane.asked, lane.others = parts[i].at, parts[i].override
    lanes[i] = lane
    if before then before[i] = lane.state or '' end
  end
  if operation == 'consume' then
    admit(lanes, now, 0, false, true)
  elseif operation == 'acquire' then
    admit(lanes, now, wait, true, true)
  elseif operation == 'peek' then
    admit(lanes, now, 0, false, false)
  elseif operation == 'renew' then
    renew(lanes[1], now)
  else
    for i = 1, count do change(lanes[i], operation, wait) end
    reply(lanes, now, 1, 0)
  end
  for i = 1, before and count or 0 do
    local lane = lanes[i]
    tell(lane.parameters)
    tell(unpacked(before[i]))
    tell(unpacked(lane.state or ''))
    tell(lane.queue)
    tell({ lane.blocked_until })
  end
  for i = 1, count do
    local lane = lanes[i]
    if lane.shared and operation ~= 'peek' then keep(lane.shared, lane.at, now) end
    if kept(lane, operation) then close(lane) end
  end
end

-- A part without parameters: they are in Redis, as [era, µs to keep it alive, per client, parameters…]; see shared-rate.lua.
local function shared_rate(part)
  local raw, config = read(3), keys[before + 3]
  if not raw then return false end
  if #raw < 32 or #raw % 8 ~= 0 then error('SLUICE foreign value in ' .. config) end
  local numbers = unpacked(raw)
  if numbers[3] ~= 0 and numbers[3] ~= 1 then error('SLUICE foreign value in ' .. config) end
  part.shared = { key = config, era = numbers[1], keep_alive = numbers[2] }
  part.place = numbers[3] == 1 and 2 or 1
  part.parameters = {}
  for i = 4, #numbers do part.parameters[i - 3] = numbers[i] end
  return true
end

-- Visits.

local function consume(rule, cost, times)
  entries[1], ends[1] = nil, nil
  with_algorithm(rule)
  local left = times - bare(rule, 'consume', cost, times)
  local part = { place = 1, algorithm = rule.algorithm, parameters = rule, cost = cost, at = 0 }
  for _ = 1, left do decide('consume', 0, { part }, now) end
  leave(1)
end

-- Calls as the arguments from the place `next` have them, how many keys they visit, and the place behind them.
local function read_calls(next)
  local function one(least)
    next = next + 1
    return integer(arguments[next - 1], least)
  end
  local function several(count)
    local numbers = {}
    for i = 1, count do numbers[i] = one(0) end
    return numbers
  end
  local places, calls = one(1), {}
  for c = 1, one(1) do
    local operation = arguments[next]
    next = next + 1
    local asked = { operation = operation, wait = one(0), times = one(1), parts = {} }
    for i = 1, one(1) do
      local rule = with_algorithm(rules[one(1)] or error('SLUICE no such rule'))
      local part = {
        place = i, rule = rule, algorithm = rule.algorithm, parameters = rule, cost = one(0), at = one(ANY),
      }
      if operation == 'override' then part.override = several(one(0)) end
      asked.parts[i] = part
    end
    calls[c] = asked
  end
  return places, calls, next
end

local function attend(calls, places)
  for place = 1, places do entries[place], ends[place] = nil, nil end
  for i = 1, #calls do
    local asked = calls[i]
    local first, left, known = asked.parts[1], asked.times, true
    if #first.rule == 0 then
      known = shared_rate(first)
    elseif #asked.parts == 1 then
      left = left - bare(first.rule, asked.operation, first.cost, left)
    end
    for _ = 1, left do
      if known then
        decide(asked.operation, asked.wait, asked.parts, now)
      else
        told = told + 1
        replies[told] = -1
      end
    end
  end
  for place = 1, places do leave(place) end
end

return { consume = consume, read = read_calls, attend = attend }
