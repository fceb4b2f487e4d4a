-- @tag sl sw
-- The twin of running-log.ts, for sliding-log.ts (sl) and sliding-window.ts (sw).
-- parameters: limit (permits), window (µs), and for a sliding window the length of a slot (µs)
-- state:      pairs (moment (µs), running count of permits up to and with it, modulo 2^53); pair 0 holds the moment at which
--             the state expires, and the count before pair 1

-- The moment that is stored for permits taken at `at`: `at` itself, or the end of its slot.
local function stamp(p, at)
  if p[3] then return at - at % p[3] + p[3] end
  return at
end

local function moment_of(state, pair)
  return number(state, 2 * pair + 1)
end

local function count_of(state, pair)
  return number(state, 2 * pair + 2)
end

local function last_of(state)
  return #state / 16 - 1
end

-- The bytes of the pairs from `first` to `last`.
local function pairs_of(state, first, last)
  return string.sub(state, 16 * first + 1, 16 * last + 16)
end

local function plus(a, b)
  if b <= LARGEST - a then return a + b end
  return b - (LARGEST - a) - 1
end

local function minus(a, b)
  if b <= a then return a - b end
  return a - b + (LARGEST + 1)
end

-- The first pair with a moment after the edge; one past the last when there is none.
local function first_after(state, edge)
  local low, high = 1, last_of(state) + 1
  while low < high do
    local middle = floor((low + high) / 2)
    if moment_of(state, middle) > edge then high = middle else low = middle + 1 end
  end
  return low
end

-- The pair with the k-th permit, counted from pair `first`.
local function reaching(state, first, k)
  local before, low, high = count_of(state, first - 1), first, last_of(state)
  while low < high do
    local middle = floor((low + high) / 2)
    if minus(count_of(state, middle), before) >= k then high = middle else low = middle + 1 end
  end
  return low
end

-- Permits of pair `first` and all after it.
local function used_from(state, first)
  return minus(count_of(state, last_of(state)), count_of(state, first - 1))
end

local function normalize(p, state, now)
  local newest = moment_of(state, last_of(state))
  local moment = math.min(newest, stamp(p, now))
  if moment == newest and moment + p[2] == number(state, 1) then return state end
  local kept = first_after(state, moment - 1) - 1
  return pack('>d', moment + p[2]) .. string.sub(state, 9, 16 * kept + 16)
    .. pack('>dd', moment, count_of(state, last_of(state)))
end

local function wait(p, state, now, cost)
  if cost == 0 then return 0 end
  if cost > p[1] then return NEVER end
  if not state then return 0 end
  local first = first_after(state, now - p[2])
  local over = used_from(state, first) - (p[1] - cost)
  if over <= 0 then return 0 end
  return moment_of(state, reaching(state, first, over)) + p[2] - now
end

-- keeps: also pairs that have left the window, as far as there is room.
local function taken(p, state, now, cost, keeps)
  local moment, window = stamp(p, now), p[2]
  if not state then return pack('>dddd', moment + window, 0, moment, cost) end
  local first, last = first_after(state, now - window), last_of(state)
  -- Penalties beyond exact numbers: all permits count as taken now.
  if cost > LARGEST - used_from(state, first) then
    return pack('>dddd', moment + window, 0, moment, LARGEST)
  end

  local kept = last
  if first <= last and moment_of(state, last) >= moment then
    moment = moment_of(state, last)
    kept = last - 1
  end
  -- More pairs than permits in the limit: see running-log.ts.
  local from = math.max(keeps and 1 or first, kept - p[1] + 2)
  return pack('>dd', moment + window, count_of(state, math.min(first, from) - 1)) .. pairs_of(state, from, kept)
    .. pack('>dd', moment, plus(count_of(state, last), cost))
end

local function take(p, state, now, cost)
  return taken(p, state, now, cost, false)
end

-- See running-log.ts.
local function book(p, state, now, cost)
  return taken(p, state, now, cost, true)
end

-- Takes out permits, from pair `from` on. first: of the window.
local function without(p, state, first, from, back)
  local before, parts, newest = count_of(state, from - 1), { '', string.sub(state, 9, 16 * from) }, from - 1
  for pair = from, last_of(state) do
    local count = count_of(state, pair)
    if minus(count, before) > back then
      newest = pair
      parts[#parts + 1] = pack('>dd', moment_of(state, pair), minus(count, back))
    end
  end
  if newest < first then return nil end
  parts[1] = pack('>d', moment_of(state, newest) + p[2])
  return table.concat(parts)
end

local function refund(p, state, now, cost, at)
  if cost == 0 then return state end
  local first, last = first_after(state, now - p[2]), last_of(state)
  if at == ANY then
    local rest = used_from(state, first) - cost
    if rest <= 0 then return nil end
    local pair = reaching(state, first, rest)
    return pack('>d', moment_of(state, pair) + p[2]) .. string.sub(state, 9, 16 * pair + 8)
      .. pack('>d', plus(count_of(state, first - 1), rest))
  end

  local moment = stamp(p, math.min(at, now))
  local pair = first_after(state, moment - 1)
  if pair < first or pair > last or moment_of(state, pair) ~= moment then return state end
  return without(p, state, first, pair, math.min(cost, minus(count_of(state, pair), count_of(state, pair - 1))))
end

-- Once permits of that moment have left the window, an unknown part of all has come back by itself.
local function refund_since(p, state, now, cost, at)
  local moment = stamp(p, at)
  local pair = first_after(state, moment - 1)
  if cost == 0 or moment <= now - p[2] or pair > last_of(state) then return state end
  return without(p, state, first_after(state, now - p[2]), pair, math.min(cost, used_from(state, pair)))
end

local function usage(p, state, now)
  if not state then return p[1], 0 end
  local used = used_from(state, first_after(state, now - p[2]))
  if used == 0 then return p[1], 0 end
  return math.max(0, p[1] - used), moment_of(state, last_of(state)) + p[2] - now
end

return { least = 32, step = 16, parameters = 2, normalize = normalize, wait = wait, take = take, book = book, refund = refund, refund_since = refund_since, usage = usage }
