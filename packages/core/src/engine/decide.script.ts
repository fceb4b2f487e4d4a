// Generated from decide.lua and algorithms/*/*.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const decideScript: Script = {
  name: 'decide',
  sha1: '350fa990de50ebba1a97bbe7f42831c0ad50a991',
  source: `local MOMENT = 67
local LARGEST = 9007199254740991
local MOST_READ = 100
local LARGEST_LONG = 2147483647
local call, try, keys, arguments, elements = redis.call, redis.pcall, KEYS, ARGV, unpack
local byte, floor, format = string.byte, math.floor, string.format
local function integer(text, least)
local value = text + 0
if value >= least and value <= LARGEST and value % 1 == 0 then return value end
error('SLUICE not a whole number from ' .. least .. ' to 2^53-1: ' .. tostring(text))
end
local now = arguments[1]
if now == '' then
local time = call('TIME')
now = time[1] * 1000000 + time[2]
else
now = integer(now, 0)
end
local replies, told, before, last, next, size = { now, nil, nil, nil }, 1, 0, 0, 4, #arguments
local alike = arguments[2] ~= ''
local rules = { nil }
for i = 1, alike and 1 or integer(arguments[3], 0) do
local tag, before_first = arguments[next], next
next = size
if not alike then
before_first = before_first + 1
next = before_first + integer(arguments[before_first], 0)
end
local rule = { tag = tag, spend = false, nil, nil, nil, nil, nil, nil, nil }
for p = before_first + 1, next do rule[p - before_first] = integer(arguments[p], 0) end
if next > before_first then
if tag == 'fw' then
local function spend(p, state, now, cost, count)
local limit, latest, last, used = p[1], now + p[2], 0, 0
if p[4] or cost > limit then return end
if p[3] then latest = latest - math.fmod(now, p[2]) end
if state then
if #state ~= 16 then return end
last, used = struct.unpack('>dd', state)
if last > latest then return end
end
if last <= now then last, used = latest, 0 end
local free = limit - used
if cost > free then return 0, math.max(0, free), last - now, last - now end
if cost * count > free then count = (free - math.fmod(free, cost)) / cost end
return count, free - cost, struct.pack('>dd', last, used + count * cost), last, last - now, 0, 0, 1, 1
end
rule.spend = spend
end
if tag == 'tb' then
local function spend(p, state, now, cost, count)
local fmod, permit, units, size, tick = math.fmod, p[1], p[2], p[3], p[7]
local price, most = cost * permit, size + p[4]
if p[5] > 0 or price > most then return end
local debt, last, since = 0, now, now
if state then
if #state ~= 24 and #state ~= 32 then return end
local late, whole, seen, began = 0, struct.unpack('>ddd', state)
if seen > now then return end
if whole > now then
local behind = fmod(whole - now, tick)
last = behind > 0 and now + behind - tick or now
if #state > 24 then late = struct.unpack('>d', state, 25) end
debt = (whole - last) / tick * units - late
if debt > most then return end
if debt > 0 then since = began else debt = 0 end
end
end
local room = math.min(size - permit, most - price) - debt
if room < 0 then
local free, rest, over = 0, fmod(debt, units), fmod(-room, units)
if debt <= size - permit then free = most - debt end
local reset, wait = debt - rest, -room - over
if rest > 0 then reset = reset + units end
if over > 0 then wait = wait + units end
return 0, (free - fmod(free, permit)) / permit, last + wait / units * tick - now, last + reset / units * tick - now
end
if p[4] > 0 then count = 1 end
if price * (count - 1) > room then count = (room - fmod(room, price)) / price + 1 end
local free = most - debt - price
if debt + price > size - permit then free = 0 end
local owed = debt + count * price
local rest, late = fmod(owed, units), 0
if rest > 0 then late = units - rest end
local whole = last + (owed + late) / units * tick
local after = late > 0 and struct.pack('>dddd', whole, now, since, late) or struct.pack('>ddd', whole, now, since)
return count, (free - fmod(free, permit)) / permit, after, whole, last - now, debt, price, units, tick
end
rule.spend = spend
end
end
rules[i] = rule
next = next + 1
end
local lanes, rule, cost, times
if alike then
last, rule, cost, times = #keys, rules[1], integer(arguments[2], 0), integer(arguments[3], 1)
end
local raws, from, to = nil, 0, 0
while last > before or next <= size do
if last == before and arguments[next] ~= '0' then
last = before + integer(arguments[next], 1)
rule = rules[integer(arguments[next + 1], 1)] or error('SLUICE no such rule')
cost, times = integer(arguments[next + 2], 0), integer(arguments[next + 3], 1)
next = next + 4
end
local simple = last > before and cost > 0 and rule.spend
if simple then
local spend = simple
if before >= to then
from, to = before, last
if to - from == 1 then
raws = try('GET', keys[to])
if type(raws) ~= 'table' then raws = { raws } end
else
if to - from > MOST_READ then to = from + MOST_READ end
raws = try('MGET', elements(keys, from + 1, to))
end
end
while simple and before < to do
local known, raw, done, state, ends = told, raws[before - from + 1], 0, nil, nil
simple = raw == false or (raw and byte(raw) == MOMENT)
state = raw
while simple and done < times do
local count, remaining, after, forgotten, since, owed, price, units, tick =
spend(rule, state, now, cost, times - done)
if not count then
simple = false
elseif count == 1 then
replies[told + 1], replies[told + 2] = remaining, forgotten - now
told, done, state, ends = told + 2, done + 1, after, forgotten
elseif count > 0 then
replies[told + 1], replies[told + 2], replies[told + 3], replies[told + 4] = -3, count, remaining, since
replies[told + 5], replies[told + 6], replies[told + 7], replies[told + 8] = owed, price, units, tick
told, done, state, ends = told + 8, done + count, after, forgotten
else
replies[told + 1], replies[told + 2], replies[told + 3], replies[told + 4], replies[told + 5] =
-4, times - done, after, remaining, forgotten
told, done = told + 5, times
end
end
if simple and ends then
local key, written = keys[before + 1], nil
if raw and struct.unpack('>d', raw) == ends then
written = try('SET', key, state, 'KEEPTTL')
else
local life = floor((ends - now) / 1000) + 2
if life <= LARGEST_LONG then life = format('%d', life) end
if raw then
written = try('SET', key, state, 'PX', life)
else
written = try('SET', key, state, 'PX', life, 'NX')
end
end
simple = written and written.ok
end
if simple then
before = before + 1
else
for n = known + 1, told do replies[n] = nil end
told = known
end
end
end
if not simple then
if not lanes then
lanes = (function()
local pack, unpack, fmod = struct.pack, struct.unpack, math.fmod
local NEVER = -1
local ANY = -1
local LONGEST = 315360000000000
local JITTER = 10000
local ENVELOPE, OVERRIDDEN = 69, 79
local function up(a, b)
local rest = fmod(a, b)
if rest > 0 then return (a - rest) / b + 1 end
return a / b
end
local function number(state, i)
return (unpack('>d', state, i * 8 - 7))
end
local function algorithm_of(tag)
if tag == 'cc' then
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
local function spliced(state, latest, last, holders, from, to, bytes)
return pack('>ddd', latest, last, holders) .. string.sub(state, 25, from * 24)
.. bytes .. string.sub(state, to * 24 + 25)
end
local function count(limit, state, now)
local queue, all = number(state, 3), places(state)
local held, holders, waiting = 0, 0, 0
local gone
for place = 1, all do
local till, cost = unpack('>dd', state, place * 24 + 9)
if till <= now or (place > queue and cost > limit) then
gone = gone or {}
gone[place] = true
elseif place > queue then
waiting = waiting + 1
else
held, holders = held + cost, holders + 1
end
end
if not gone then return state, held, waiting, holders end
local parts = { pack('>ddd', number(state, 1), number(state, 2), holders) }
for place = 1, all do
if not gone[place] then parts[#parts + 1] = string.sub(state, place * 24 + 1, place * 24 + 24) end
end
return table.concat(parts), held, waiting, holders
end
local seen, seenAt, seenLimit, list, held, waiting, holders
local function living(limit, state, now)
if seen ~= state or seenAt ~= now or seenLimit ~= limit then
seen, seenAt, seenLimit = state, now, limit
list, held, waiting, holders = count(limit, state, now)
end
return list, held, waiting, holders
end
local function sealed(lease, state, now)
local _, last, holders = entry(state, 0)
local latest = math.min(last + 1, now + lease)
for place = math.max(1, holders), places(state) do latest = math.max(latest, number(state, place * 3 + 2)) end
if latest <= now then return nil end
return pack('>d', latest) .. string.sub(state, 9)
end
local function admit(lease, state, now, cost, place, holders)
if not state then return pack('>dddddd', now + lease, now, holders, now, now + lease, cost) end
local latest, last = unpack('>dd', state)
local id = math.max(now, last + 1)
local bytes = pack('>ddd', id, now + lease, cost)
return spliced(state, math.max(latest, now + lease), id, holders, place + 1, place, bytes)
end
local function waitUntil(p, state, held, now, cost, before)
local limit, lease = p[1], p[2]
local ends, costs = {}, {}
local holders = number(state, 3)
for place = 1, holders do
local _, till, share = entry(state, place)
ends[place], costs[place] = till, share
end
local time, free, following, first = now, limit - held, holders + 1, 1
while true do
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
if not head and cost <= free then return time - now end
time = math.min(ends[first] or math.huge, head or math.huge)
while ends[first] and ends[first] <= time do
free = free + costs[first]
first = first + 1
end
end
end
local function repair(p, state, now)
local latest = now + p[2]
if number(state, 1) <= latest then return state end
local parts = { pack('>d', latest), string.sub(state, 9, 24) }
for place = 1, places(state) do
local id, till, cost = entry(state, place)
parts[#parts + 1] = pack('>ddd', id, math.min(till, latest), cost)
end
return table.concat(parts)
end
local function wait(p, state, now, cost)
if cost == 0 then return 0 end
if cost > p[1] then return NEVER end
if not state then return 0 end
local list, held, waiting = living(p[1], state, now)
if waiting == 0 and held + cost <= p[1] then return 0 end
return waitUntil(p, list, held, now, cost, places(list) + 1)
end
local function take(p, state, now, cost)
if not state then return admit(p[2], nil, now, cost, 0, 1) end
local list, held, _, holders = living(p[1], state, now)
return admit(p[2], list, now, math.min(cost, LARGEST - held), holders, holders + 1)
end
local function give(p, state, now, cost, at)
local place = at ~= ANY and find(state, at)
if not place then return state end
local latest, last, holders = entry(state, 0)
if place <= holders then holders = holders - 1 end
return sealed(p[2], spliced(state, latest, last, holders, place, place, ''), now)
end
local function left(p, state, now)
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
local function join(p, state, now, cost)
local list, waiting, holders, _ = state, 0, 0
if state then list, _, waiting, holders = living(p[1], state, now) end
if waiting >= p[3] then return state end
return admit(p[2], list, now, cost, holders + waiting, holders)
end
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
local function standing(state, id)
local place = find(state, id)
if not place then return -1 end
return place <= number(state, 3) and 1 or 0
end
local function patience(p, state, now, id)
local list, held, _, holders = living(p[1], state, now)
local place = find(list, id)
if not place or place <= holders then return 1 end
local _, _, cost = entry(list, place)
return math.max(1, waitUntil(p, list, held, now, cost, place))
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
repair = repair, wait = wait, take = take, give = give, left = left, last = last, join = join, renew = renew,
standing = standing, patience = patience, promote = promote,
}
end
if tag == 'fw' then
local function end_of(p, moment)
local window = p[2]
if not p[3] then return moment + window end
local edge = p[4] or 0
for i = 5, #p do
if moment < edge then break end
if moment < p[i] then return p[i] end
edge = p[i]
end
local into = math.fmod(moment - edge, window)
if into < 0 then return moment - into end
return moment - into + window
end
local function start_of(p, last)
for i = 5, #p do
if p[i] == last then return p[i - 1] end
end
return last - p[2]
end
local function repair(p, state, now)
local last, used = unpack('>dd', state)
local latest = end_of(p, p[3] and now + JITTER or now)
if last > latest then return pack('>dd', end_of(p, now), used) end
return state
end
local function wait(p, state, now, cost)
if cost == 0 then return 0 end
if cost > p[1] then return NEVER end
if not state then return 0 end
local last, used = unpack('>dd', state)
if last <= now or cost <= p[1] - used then return 0 end
return last - now
end
local function take(p, state, now, cost)
if state then
local last, used = unpack('>dd', state)
if last > now then return pack('>dd', last, math.min(used + cost, LARGEST)) end
end
return pack('>dd', end_of(p, now), cost)
end
local function give(p, state, now, cost, at)
local last, used = unpack('>dd', state)
if cost == 0 then return state end
if at ~= ANY and (at >= last or at < start_of(p, last)) then return state end
if cost < used then return pack('>dd', last, used - cost) end
return nil
end
local function left(p, state, now)
if not state then return p[1], 0 end
local last, used = unpack('>dd', state)
if last <= now then return p[1], 0 end
return math.max(0, p[1] - used), last - now
end
local function anchored(p)
return not p[3]
end
return { repair = repair, wait = wait, take = take, give = give, left = left, anchored = anchored }
end
if tag == 'sl' or tag == 'sw' then
local function stamp(p, at)
if p[3] then return at - math.fmod(at, p[3]) + p[3] end
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
local function first_after(state, edge)
local low, high = 1, last_of(state) + 1
while low < high do
local middle = math.floor((low + high) / 2)
if moment_of(state, middle) > edge then high = middle else low = middle + 1 end
end
return low
end
local function reaching(state, first, k)
local before, low, high = count_of(state, first - 1), first, last_of(state)
while low < high do
local middle = math.floor((low + high) / 2)
if minus(count_of(state, middle), before) >= k then high = middle else low = middle + 1 end
end
return low
end
local function used_from(state, first)
return minus(count_of(state, last_of(state)), count_of(state, first - 1))
end
local function repair(p, state, now)
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
local function take(p, state, now, cost)
local moment, window = stamp(p, now), p[2]
if not state then return pack('>dddd', moment + window, 0, moment, cost) end
local first, last = first_after(state, now - window), last_of(state)
if cost > LARGEST - used_from(state, first) then
return pack('>dddd', moment + window, 0, moment, LARGEST)
end
local kept = last
if first <= last and moment_of(state, last) >= moment then
moment = moment_of(state, last)
kept = last - 1
end
local from = math.max(first, kept - p[1] + 2)
return pack('>dd', moment + window, count_of(state, first - 1)) .. pairs_of(state, from, kept)
.. pack('>dd', moment, plus(count_of(state, last), cost))
end
local function give(p, state, now, cost, at)
if cost == 0 then return state end
local first, last = first_after(state, now - p[2]), last_of(state)
if at == ANY then
local rest = used_from(state, first) - cost
if rest <= 0 then return nil end
local pair = reaching(state, first, rest)
return pack('>d', moment_of(state, pair) + p[2]) .. string.sub(state, 9, 16 * pair + 8)
.. pack('>d', plus(count_of(state, first - 1), rest))
end
local moment = stamp(p, at)
local pair = first_after(state, moment - 1)
if pair < first or pair > last or moment_of(state, pair) ~= moment then return state end
local before = count_of(state, pair - 1)
local back = math.min(cost, minus(count_of(state, pair), before))
local parts, newest = { '', string.sub(state, 9, 16 * pair) }, pair - 1
for i = pair, last do
local count = minus(count_of(state, i), back)
if i > pair or count ~= before then
newest = i
parts[#parts + 1] = pack('>dd', moment_of(state, i), count)
end
end
if newest < first then return nil end
parts[1] = pack('>d', moment_of(state, newest) + p[2])
return table.concat(parts)
end
local function left(p, state, now)
if not state then return p[1], 0 end
local used = used_from(state, first_after(state, now - p[2]))
if used == 0 then return p[1], 0 end
return math.max(0, p[1] - used), moment_of(state, last_of(state)) + p[2] - now
end
return { repair = repair, wait = wait, take = take, give = give, left = left }
end
if tag == 'tb' then
local function down(a, b)
return (a - math.fmod(a, b)) / b
end
local function debt_at(p, state, now)
if not state then return p[5], now end
local size, late = #state, 0
if size > 24 then late = number(state, 4) end
local whole = number(state, size > 32 and 5 or 1)
if whole <= now then return 0, now end
local ticks = whole - now
if p[7] ~= 1 then ticks = up(ticks, p[7]) end
return math.max(0, ticks * p[2] - late), whole - ticks * p[7]
end
local function span_of(p)
return up(p[3] + p[4], p[2]) * p[7]
end
local function most_of(p)
return math.min(LARGEST - (up(JITTER, p[7]) + 2) * p[2], down(LONGEST, p[7]) * p[2])
end
local function taken_at_most(p)
if p[3] == 0 then return most_of(p) end
return p[3] + p[4]
end
local function seen_at(state, now)
if state then return math.max(now, number(state, 2)) end
return now
end
local function write(p, seen, debt, since, last)
local ticks = up(debt, p[2])
local late = ticks * p[2] - debt
local whole = last + ticks * p[7]
local forgotten = whole
if p[5] > 0 then forgotten = math.max(whole, seen + math.max(86400000000, span_of(p))) end
if debt > p[3] + p[4] then return pack('>dddddd', forgotten, seen, since, late, whole, span_of(p)) end
if p[5] > 0 then return pack('>ddddd', forgotten, seen, since, late, whole) end
if late > 0 then return pack('>dddd', forgotten, seen, since, late) end
return pack('>ddd', forgotten, seen, since)
end
local function delayed(state, micros)
local parts = {}
for i = 1, #state / 8 do
local value = number(state, i)
if i ~= 4 and i ~= 6 then value = math.max(0, value - micros) end
parts[i] = pack('>d', value)
end
return table.concat(parts)
end
local function see(p, now)
if p[5] > 0 then return write(p, now, p[5], now, now) end
return nil
end
local function repair(p, state, now)
local back = number(state, 2) - now
if back > JITTER then state = delayed(state, back) end
local seen = seen_at(state, now)
local debt, last = debt_at(p, state, seen)
if debt <= p[3] + p[4] then return state end
local most = taken_at_most(p)
if #state > 40 and number(state, 6) == span_of(p) then most = most_of(p) end
if debt > most then return write(p, seen, most, number(state, 3), last) end
return state
end
local function wait(p, state, now, cost)
local price = cost * p[1]
if price > p[3] + p[4] then return NEVER end
if cost == 0 then return 0 end
local debt, last = debt_at(p, state, now)
local over = debt - math.min(p[3] - p[1], p[3] + p[4] - price)
if over > 0 then return last + up(over, p[2]) * p[7] - now end
return 0
end
local function take(p, state, now, cost)
local debt, last = debt_at(p, state, now)
local since = now
if state and debt > 0 then since = number(state, 3) end
debt = debt + cost * p[1]
if debt > p[3] + p[4] then debt = math.min(debt, most_of(p)) end
return write(p, seen_at(state, now), debt, since, last)
end
local function absorb(p, state, now, cost)
local debt, last = debt_at(p, state, now)
local since = now
if state and debt > 0 then since = number(state, 3) end
debt = math.max(debt, math.min(debt + cost * p[1], taken_at_most(p)))
return write(p, seen_at(state, now), debt, since, last)
end
local function give(p, state, now, cost, at)
local since = number(state, 3)
local debt, last = debt_at(p, state, now)
if debt == 0 or cost == 0 or (at ~= ANY and at < since) then return state end
local back = cost * p[1]
if at ~= ANY and at ~= number(state, 2) then back = math.max(0, back - up(math.max(0, last - at), p[7]) * p[2]) end
if back == 0 then return state end
local rest = math.max(0, debt - back)
if rest > 0 then return write(p, seen_at(state, now), rest, since, last) end
if p[5] > 0 then return write(p, seen_at(state, now), 0, since, now) end
return nil
end
local function left(p, state, now)
local debt, last = debt_at(p, state, now)
if debt == 0 then return down(p[3] + p[4], p[1]), 0 end
local remaining = 0
if debt <= p[3] - p[1] then remaining = down(p[3] + p[4] - debt, p[1]) end
return remaining, last + up(debt, p[2]) * p[7] - now
end
local function translate(from, p, state, now)
local permits = up((debt_at(from, state, now)), from[1])
return write(p, seen_at(state, now), math.min(permits * p[1], taken_at_most(p)), number(state, 3), now)
end
local function is_saved(p, cost)
return p[6] == 2 and cost * p[1] > p[3] + p[4]
end
local function due(p, state, now, cost)
if is_saved(p, cost) then
local debt, last = debt_at(p, state, now)
if cost * p[1] > most_of(p) - debt then return NEVER end
return last + up(debt + cost * p[1] - p[3] - p[4], p[2]) * p[7] - now
end
local moment = wait(p, state, now, cost)
if p[6] ~= 1 or moment == NEVER or cost == 0 then return moment end
return math.max(moment, down((debt_at(p, state, now)), p[2]))
end
local function saving(p, cost)
if is_saved(p, cost) then return up(cost * p[1] - p[3] - p[4], p[2]) * p[7] end
return 0
end
local function book(p, state, now, cost)
if not is_saved(p, cost) then return take(p, state, now, cost) end
local debt, last = debt_at(p, state, now)
local since = now
if state and debt > 0 then since = number(state, 3) end
return write(p, seen_at(state, now), math.min(debt + p[3] + p[4], most_of(p)), since, last)
end
local function anchored(p)
return p[7] > 1
end
local function longest(p, cost)
if p[6] ~= 1 then return LONGEST end
return math.max(0, down(p[3] - cost * p[1], p[2]))
end
return {
see = see, translate = translate, repair = repair, wait = wait, take = take, absorb = absorb, give = give, left = left, due = due, longest = longest,
saving = saving, book = book, anchored = anchored,
}
end
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
local function as_of(lane, state, at)
if lane.algorithm.see then return state end
return live(state, at)
end
local function taken(lane, state, at, cost)
return lane.algorithm.take(lane.parameters, as_of(lane, state, at), at, cost)
end
local function booked(lane, state, at, cost)
local book = lane.algorithm.book or lane.algorithm.take
return book(lane.parameters, as_of(lane, state, at), at, cost)
end
local function saving_of(lane, cost)
local saving = lane.algorithm.saving
return saving and saving(lane.parameters, cost) or 0
end
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
local function whole_at(lane, state, at)
local _, reset = lane.algorithm.left(lane.parameters, as_of(lane, state, at), at)
return at + reset
end
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
local NOTHING = {}
local EVERYONE = -1
local MOST_BOOKED = 1000
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
local function counts(lane)
return lane.override ~= '' and not lane.algorithm.last
end
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
local function keep(shared, moment, now)
local alive = math.ceil((math.max(moment, now) - now + shared.keep_alive) / 1000)
if call('PTTL', shared.key) < alive then call('PEXPIRE', shared.key, string.format('%.0f', alive)) end
end
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
local function consume(rule, cost, times)
entries[1], ends[1] = nil, nil
with_algorithm(rule)
local left = times - bare(rule, 'consume', cost, times)
local part = { place = 1, algorithm = rule.algorithm, parameters = rule, cost = cost, at = 0 }
for _ = 1, left do decide('consume', 0, { part }, now) end
leave(1)
end
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
end)()
end
local known, fine, wrong, places, calls = told, nil, nil, 1, nil
if last > before then
fine, wrong = pcall(lanes.consume, rule, cost, times)
else
places, calls, next = lanes.read(next + 1)
last = before + places
fine, wrong = pcall(lanes.attend, calls, places)
end
if not fine then
for n = known + 1, told do replies[n] = nil end
told = known + 2
replies[known + 1], replies[told] = -2, type(wrong) == 'table' and wrong.err or wrong
end
before = before + places
end
end
return replies`,
};
