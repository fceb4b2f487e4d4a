// Generated from decide.lua, what it includes, and algorithms/*/*.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const decideScript: Script = {
  name: 'decide',
  sha1: 'cb9b87fc9671042a58bad59da2eb3b4783d814c5',
  source: `local RATE_NOT_SET = -1
local FAILED = -2
local RUN = -3
local SAME_DENIED = -4
local SAME_ALLOWED = -5
local DENIED = -6
local ALLOWED = -7
local QUEUED = -8
local ELSEWHERE = -9
local UNDECLARED = -10
local LARGEST = 9007199254740991
local MOST_READ = 100
local LARGEST_LONG = 2147483647
local OLDEST = 562949953421312
local call, try, keys, arguments, elements = redis.call, redis.pcall, KEYS, ARGV, unpack
local byte, floor, format, frexp, pack, unpack =
string.byte, math.floor, string.format, math.frexp, struct.pack, struct.unpack
local function integer(text, least)
local value = text + 0
if value >= least and value <= LARGEST and value % 1 == 0 then return value end
error('SLUICE not a whole number from ' .. least .. ' to 2^53-1: ' .. tostring(text))
end
local declared = #keys > 0
if not declared then
local count = integer(arguments[1], 0)
keys, arguments = { elements(ARGV, 2, count + 1) }, {}
for i = count + 2, #ARGV do arguments[i - count - 1] = ARGV[i] end
MOST_READ = 1
end
local function is_elsewhere(wrong)
return wrong:find('non local key', 1, true) or wrong:find('slot not served', 1, true) or wrong:find('cluster is down', 1, true)
end
local function is_undeclared(wrong)
return wrong:find('same slot', 1, true) or wrong:find('undeclared', 1, true)
end
local now = arguments[1]
local is_packed = now == 'packed'
if is_packed or now == '' then
local time = call('TIME')
now = time[1] * 1000000 + time[2]
else
now = integer(now, 0)
end
local replies, replied, offset, last, next, size = { now, nil, nil, nil }, 1, 0, 0, 4, #arguments
local alike = arguments[2] ~= ''
local rules = { nil }
for i = 1, alike and 1 or integer(arguments[3], 0) do
local tag, before_first = arguments[next], next
next = size
if not alike then
before_first = before_first + 1
next = before_first + integer(arguments[before_first], 0)
end
local rule = { tag = tag, nil, nil, nil, nil, nil, nil, nil }
for p = before_first + 1, next do rule[p - before_first] = integer(arguments[p], 0) end
rules[i] = rule
next = next + 1
end
local general, rule, cost, times
if alike then
last, rule, cost, times = #keys, rules[1], integer(arguments[2], 0), integer(arguments[3], 1)
end
local raws, from, to = nil, 0, 0
local knows_msetex = (redis.VALKEY_VERSION_NUM or 0) >= 590080 or (redis.REDIS_VERSION_NUM or 0) >= 525312
local writes_many, writes, rows = false, { nil, nil, nil, nil }, { nil, nil, nil, nil }
while last > offset or next <= size do
if last == offset and arguments[next] ~= '0' then
last = offset + integer(arguments[next], 1)
rule = rules[integer(arguments[next + 1], 1)] or error('SLUICE no such rule')
cost, times = integer(arguments[next + 2], 0), integer(arguments[next + 3], 1)
next = next + 4
end
local simple = false
if last > offset and cost > 0 and #rule > 0 then
local tag = rule.tag
if tag == 'fw' then
if offset >= to then
from, to, writes_many = offset, last, false
if to - from == 1 then
raws = try('GET', keys[to])
if type(raws) ~= 'table' then raws = { raws } end
else
if to - from > MOST_READ then to = from + MOST_READ end
raws = try('MGET', elements(keys, from + 1, to))
writes_many = knows_msetex and declared
end
end
simple = true
local writes_end, rows_end, row_life = 0, 0, nil
while offset < to do
local known, raw, done, ends, ended = replied, raws[offset - from + 1], 0, nil, nil
local state = raw
while done < times and raw ~= nil do
local wanted = times - done
local count, remaining, reset, wait, first, owed
local limit, latest, last, used = rule[1], now + rule[2], 0, 0
if rule[4] or cost > limit then break end
if rule[3] then latest = latest - now % rule[2] end
if state then
if #state ~= 16 then break end
last, used = unpack('>dd', state)
if not (last >= OLDEST and last <= latest and used >= 0 and used <= LARGEST) then break end
ended = ended or last
end
if last <= now then last, used = latest, 0 end
local free = limit - used
reset = last - now
if free < cost then
count, remaining, wait = 0, free > 0 and free or 0, reset
else
count = wanted
if cost * count > free then count = floor(free / cost) end
remaining, first, owed = free - cost, reset, 0
state, ends = pack('>dd', last, used + count * cost), last
end
if not (remaining >= 0 and (remaining + reset + (wait or 0)) % 1 == 0) then break end
if count == 1 then
replies[replied + 1], replies[replied + 2] = remaining, reset
replied, done = replied + 2, done + 1
elseif count > 0 then
replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
RUN, count, remaining, first, owed
replied, done = replied + 5, done + count
else
replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
SAME_DENIED, wanted, wait, remaining, reset
replied, done = replied + 5, times
end
end
local written = done == times
if written and ends then
local key = keys[offset + 1]
local lasts = raw and ends <= ended
if lasts and not writes_many and #state == #raw then
written = try('SETRANGE', key, '0', state) == #state
else
local life = lasts and writes_many and 0 or floor((ends - now) / 1000) + 2
if writes_many then
if not raw then life = -life end
if life ~= row_life then
rows[rows_end + 1], rows[rows_end + 2], rows[rows_end + 3], rows[rows_end + 4] = writes_end + 1, life, offset, known
rows_end, row_life = rows_end + 4, life
end
writes[writes_end + 1], writes[writes_end + 2] = key, state
writes_end = writes_end + 2
else
if life <= LARGEST_LONG then life = format('%d', life) end
if raw then
written = try('SET', key, state, 'PX', life)
else
written = try('SET', key, state, 'PX', life, 'NX')
end
written = written and written.ok
end
end
end
if not written then
for n = known + 1, replied do replies[n] = nil end
replied, simple = known, false
break
end
offset = offset + 1
end
rows[rows_end + 1] = writes_end + 1
for row = 1, rows_end, 4 do
local start, life, behind = rows[row], rows[row + 1], rows[row + 4]
local key, state, next_key, options = writes[behind], writes[behind + 1], writes[behind + 2], 1
if life == 0 then
writes[behind] = 'KEEPTTL'
elseif life < 0 then
writes[behind], writes[behind + 1], writes[behind + 2], options = 'NX', 'PX', -life, 3
else
writes[behind], writes[behind + 1], options = 'PX', life, 2
end
local written = try('MSETEX', (behind - start) / 2, elements(writes, start, behind + options - 1))
writes[behind], writes[behind + 1], writes[behind + 2] = key, state, next_key
if written ~= 1 then
offset, writes_many = rows[row + 2], false
for n = rows[row + 3] + 1, replied do replies[n] = nil end
replied = rows[row + 3]
break
end
end
end
if tag == 'sl' or tag == 'sw' then
if offset >= to then
from, to, writes_many = offset, last, false
if to - from == 1 then
raws = try('GET', keys[to])
if type(raws) ~= 'table' then raws = { raws } end
else
if to - from > MOST_READ then to = from + MOST_READ end
raws = try('MGET', elements(keys, from + 1, to))
writes_many = knows_msetex and declared
end
end
simple = true
local writes_end, rows_end, row_life = 0, 0, nil
while offset < to do
local known, raw, done, ends, ended = replied, raws[offset - from + 1], 0, nil, nil
local state = raw
while done < times and raw ~= nil do
local wanted = times - done
local count, remaining, reset, wait, first, owed
local limit, window, slot = rule[1], rule[2], rule[3]
if cost > limit then break end
local moment = slot and now - now % slot + slot or now
local over, base, total, size, place, newest, leaves, counted = moment + window, 0, 0, 0, 17, nil, nil, nil
if state then
size = #state
if size < 32 or size % 16 ~= 0 or size > 2048 then break end
local forgotten
forgotten, base, leaves, counted = unpack('>dddd', state)
newest, total = unpack('>dd', state, size - 15)
if not (leaves >= OLDEST and newest <= moment and newest + window == forgotten and base <= total) then break end
ended = ended or forgotten
if forgotten <= now then
newest, base, total = nil, 0, 0
else
while leaves <= now - window do
base, place = counted, place + 16
leaves, counted = unpack('>dd', state, place)
end
end
end
if not (base >= 0 and base <= total and total <= LARGEST and (base + total) % 1 == 0) then break end
local free = limit - (total - base)
if free < cost then
while counted - base < cost - free do
place = place + 16
leaves, counted = unpack('>dd', state, place)
end
count, remaining, wait, reset = 0, free > 0 and free or 0, leaves + window - now, newest + window - now
else
count = wanted
if cost * count > free then count = floor(free / cost) end
remaining, reset, total = free - cost, over - now, total + count * cost
if total > LARGEST then break end
first, owed, ends = reset, 0, over
if not newest then
state = pack('>dddd', over, 0, moment, total)
elseif newest == moment then
state = pack('>dd', over, base) .. string.sub(state, place, size - 8) .. pack('>d', total)
else
state = pack('>dd', over, base) .. string.sub(state, place) .. pack('>dd', moment, total)
end
end
if not (remaining >= 0 and (remaining + reset + (wait or 0)) % 1 == 0) then break end
if count == 1 then
replies[replied + 1], replies[replied + 2] = remaining, reset
replied, done = replied + 2, done + 1
elseif count > 0 then
replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
RUN, count, remaining, first, owed
replied, done = replied + 5, done + count
else
replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
SAME_DENIED, wanted, wait, remaining, reset
replied, done = replied + 5, times
end
end
local written = done == times
if written and ends then
local key = keys[offset + 1]
local lasts = raw and ends <= ended
if lasts and not writes_many and #state == #raw then
written = try('SETRANGE', key, '0', state) == #state
else
local life = lasts and writes_many and 0 or floor((ends - now) / 1000) + 2
if writes_many then
if not raw then life = -life end
if life ~= row_life then
rows[rows_end + 1], rows[rows_end + 2], rows[rows_end + 3], rows[rows_end + 4] = writes_end + 1, life, offset, known
rows_end, row_life = rows_end + 4, life
end
writes[writes_end + 1], writes[writes_end + 2] = key, state
writes_end = writes_end + 2
else
if life <= LARGEST_LONG then life = format('%d', life) end
if raw then
written = try('SET', key, state, 'PX', life)
else
written = try('SET', key, state, 'PX', life, 'NX')
end
written = written and written.ok
end
end
end
if not written then
for n = known + 1, replied do replies[n] = nil end
replied, simple = known, false
break
end
offset = offset + 1
end
rows[rows_end + 1] = writes_end + 1
for row = 1, rows_end, 4 do
local start, life, behind = rows[row], rows[row + 1], rows[row + 4]
local key, state, next_key, options = writes[behind], writes[behind + 1], writes[behind + 2], 1
if life == 0 then
writes[behind] = 'KEEPTTL'
elseif life < 0 then
writes[behind], writes[behind + 1], writes[behind + 2], options = 'NX', 'PX', -life, 3
else
writes[behind], writes[behind + 1], options = 'PX', life, 2
end
local written = try('MSETEX', (behind - start) / 2, elements(writes, start, behind + options - 1))
writes[behind], writes[behind + 1], writes[behind + 2] = key, state, next_key
if written ~= 1 then
offset, writes_many = rows[row + 2], false
for n = rows[row + 3] + 1, replied do replies[n] = nil end
replied = rows[row + 3]
break
end
end
end
if tag == 'tb' then
if offset >= to then
from, to, writes_many = offset, last, false
if to - from == 1 then
raws = try('GET', keys[to])
if type(raws) ~= 'table' then raws = { raws } end
else
if to - from > MOST_READ then to = from + MOST_READ end
raws = try('MGET', elements(keys, from + 1, to))
writes_many = knows_msetex and declared
end
end
simple = true
local writes_end, rows_end, row_life = 0, 0, nil
while offset < to do
local known, raw, done, ends, ended = replied, raws[offset - from + 1], 0, nil, nil
local state = raw
while done < times and raw ~= nil do
local wanted = times - done
local count, remaining, reset, wait, first, owed
local permit, units, full, tick = rule[1], rule[2], rule[3], rule[7]
local price, most = cost * permit, full + rule[4]
if rule[5] > 0 or price > most then break end
local debt, last, since = 0, now, now
local late, whole, seen, began = 0, nil, nil, nil
if state then
if #state == 24 then
whole, seen, began = unpack('>ddd', state)
elseif #state == 32 then
whole, seen, began, late = unpack('>dddd', state)
else
break
end
if not (whole >= OLDEST and seen <= now and began <= seen and late >= 0 and late < units and (whole + seen + began + late) % 1 == 0) then break end
if whole > now then
last = now - (now - whole) % tick
debt = (whole - last) / tick * units - late
if debt > most then break end
if debt > 0 then since = began else debt = 0 end
end
end
local bearable = full - permit
if most - price < bearable then bearable = most - price end
local room, free = bearable - debt, 0
if room < 0 then
if debt <= full - permit then free = most - debt end
count, remaining = 0, (free - free % permit) / permit
reset, wait = last + (debt + -debt % units) / units * tick - now, last + (-room + room % units) / units * tick - now
else
count = wanted
if rule[4] > 0 then count = 1 end
if price * (count - 1) > room then count = (room - room % price) / price + 1 end
if debt + price <= full - permit then free = most - debt - price end
first, owed = last - now, debt
debt = debt + count * price
local left = 1
if state and not ended then
if whole - seen > 1 then left = whole - seen end
ended = whole + -whole % (left / frexp(left) / 2)
end
late = -debt % units
whole = last + (debt + late) / units * tick
left = whole - now
ends = whole + -whole % (left / frexp(left) / 2)
remaining, reset = (free - free % permit) / permit, left
state = late > 0 and pack('>dddd', whole, now, since, late) or pack('>ddd', whole, now, since)
end
if not (remaining >= 0 and (remaining + reset + (wait or 0)) % 1 == 0) then break end
if count == 1 then
replies[replied + 1], replies[replied + 2] = remaining, reset
replied, done = replied + 2, done + 1
elseif count > 0 then
replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
RUN, count, remaining, first, owed
replied, done = replied + 5, done + count
else
replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
SAME_DENIED, wanted, wait, remaining, reset
replied, done = replied + 5, times
end
end
local written = done == times
if written and ends then
local key = keys[offset + 1]
local lasts = raw and ends <= ended
if lasts and not writes_many and #state == #raw then
written = try('SETRANGE', key, '0', state) == #state
else
local life = lasts and writes_many and 0 or floor((ends - now) / 1000) + 2
if writes_many then
if not raw then life = -life end
if life ~= row_life then
rows[rows_end + 1], rows[rows_end + 2], rows[rows_end + 3], rows[rows_end + 4] = writes_end + 1, life, offset, known
rows_end, row_life = rows_end + 4, life
end
writes[writes_end + 1], writes[writes_end + 2] = key, state
writes_end = writes_end + 2
else
if life <= LARGEST_LONG then life = format('%d', life) end
if raw then
written = try('SET', key, state, 'PX', life)
else
written = try('SET', key, state, 'PX', life, 'NX')
end
written = written and written.ok
end
end
end
if not written then
for n = known + 1, replied do replies[n] = nil end
replied, simple = known, false
break
end
offset = offset + 1
end
rows[rows_end + 1] = writes_end + 1
for row = 1, rows_end, 4 do
local start, life, behind = rows[row], rows[row + 1], rows[row + 4]
local key, state, next_key, options = writes[behind], writes[behind + 1], writes[behind + 2], 1
if life == 0 then
writes[behind] = 'KEEPTTL'
elseif life < 0 then
writes[behind], writes[behind + 1], writes[behind + 2], options = 'NX', 'PX', -life, 3
else
writes[behind], writes[behind + 1], options = 'PX', life, 2
end
local written = try('MSETEX', (behind - start) / 2, elements(writes, start, behind + options - 1))
writes[behind], writes[behind + 1], writes[behind + 2] = key, state, next_key
if written ~= 1 then
offset, writes_many = rows[row + 2], false
for n = rows[row + 3] + 1, replied do replies[n] = nil end
replied = rows[row + 3]
break
end
end
end
end
if not simple then
if not general then
general = (function()
local entries, ends, group_size = {}, {}, 1
local function foreign(key)
error('SLUICE foreign value in ' .. key)
end
local function damaged()
foreign(table.concat(keys, ' or ', offset + 1, offset + group_size))
end
local function read(place)
local entry = entries[place]
if entry == nil then
entry = call('GET', keys[offset + place])
entries[place] = entry
end
return entry
end
local function write(place, entry, forgotten)
entries[place], ends[place] = forgotten > now and entry, forgotten
end
local function save(place)
local forgotten = ends[place]
if not forgotten then return end
if entries[place] then
call('SET', keys[offset + place], entries[place], 'PX', floor((forgotten - now) / 1000) + 2)
else
call('DEL', keys[offset + place])
end
end
local function is_whole(value)
return value >= 0 and value <= LARGEST and value % 1 == 0
end
local function number(state, i)
local value = unpack('>d', state, i * 8 - 7)
if value >= 0 and value <= LARGEST and value % 1 == 0 then return value end
damaged()
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
local NEVER, ANY = -1, -1
local LONGEST = 315360000000000
local JITTER = 10000
local NOTHING = {}
local ceil = math.ceil
local function up(a, b)
return ceil(a / b)
end
local function down(a, b)
return floor(a / b)
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
if not is_whole(held) then damaged() end
if not gone then return state, held, waiting, holders end
local parts = { pack('>ddd', number(state, 1), number(state, 2), holders) }
for place = 1, all do
if not gone[place] then parts[#parts + 1] = string.sub(state, place * 24 + 1, place * 24 + 24) end
end
return table.concat(parts), held, waiting, holders
end
local seen, seen_at, seen_limit, list, held, waiting, holders
local function living(limit, state, now)
if seen ~= state or seen_at ~= now or seen_limit ~= limit then
seen, seen_at, seen_limit = state, now, limit
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
local function take(p, state, now, cost)
if not state then return admit(p[2], nil, now, cost, 0, 1) end
local list, held, _, holders = living(p[1], state, now)
return admit(p[2], list, now, math.min(cost, LARGEST - held), holders, holders + 1)
end
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
local function join(p, state, now, cost, most)
local list, waiting, holders, _ = state, 0, 0
if state then list, _, waiting, holders = living(p[1], state, now) end
if waiting >= math.min(p[3], most) then return state end
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
return moment - (moment - edge) % window + window
end
local function start_of(p, last)
for i = 5, #p do
if p[i] == last then return p[i - 1] end
end
return last - p[2]
end
local function normalize(p, state, now)
local last, used = number(state, 1), number(state, 2)
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
local function refund(p, state, now, cost, at)
local last, used = unpack('>dd', state)
if cost == 0 then return state end
if at ~= ANY and (at >= last or at < start_of(p, last)) then return state end
if cost < used then return pack('>dd', last, used - cost) end
return nil
end
local function usage(p, state, now)
if not state then return p[1], 0 end
local last, used = unpack('>dd', state)
if last <= now then return p[1], 0 end
return math.max(0, p[1] - used), last - now
end
local function has_ended(p, now, at)
return end_of(p, at) <= now
end
local function anchored(p)
return not p[3]
end
local function complete(p, policy)
if p[3] ~= 2 or p[4] then return p end
local whole = { p[1], p[2], p[3] }
for i = 4, #policy do whole[i] = policy[i] end
return whole
end
return {
least = 16, most = 16, step = 8, parameters = 2, normalize = normalize, wait = wait, take = take, refund = refund, usage = usage, has_ended = has_ended, anchored = anchored, complete = complete,
}
end
if tag == 'hd' then
local function normalize(_, state)
return state
end
local function wait(_, _, _, cost)
return cost == 0 and 0 or NEVER
end
local function take(_, state, now)
return state or pack('>ddd', now, 0, 0)
end
local function refund(_, state)
return state
end
local function usage(p, state, now)
local remaining, reset = p[1], 0
if not state then return remaining, reset end
for i = 2, p[1] > 0 and #state / 8 or 0, 2 do
if number(state, i) > now then remaining = math.max(0, remaining - number(state, i + 1)) end
end
return remaining, math.max(0, number(state, 1) - now)
end
return { is_hold = true, least = 24, step = 8, parameters = 1, normalize = normalize, wait = wait, take = take, refund = refund, usage = usage }
end
if tag == 'sl' or tag == 'sw' then
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
local middle = floor((low + high) / 2)
if moment_of(state, middle) > edge then high = middle else low = middle + 1 end
end
return low
end
local function reaching(state, first, k)
local before, low, high = count_of(state, first - 1), first, last_of(state)
while low < high do
local middle = floor((low + high) / 2)
if minus(count_of(state, middle), before) >= k then high = middle else low = middle + 1 end
end
return low
end
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
local function taken(p, state, now, cost, keeps)
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
local from = math.max(keeps and 1 or first, kept - p[1] + 2)
return pack('>dd', moment + window, count_of(state, math.min(first, from) - 1)) .. pairs_of(state, from, kept)
.. pack('>dd', moment, plus(count_of(state, last), cost))
end
local function take(p, state, now, cost)
return taken(p, state, now, cost, false)
end
local function book(p, state, now, cost)
return taken(p, state, now, cost, true)
end
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
end
if tag == 'tb' then
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
local function kept_until(state)
local whole, seen = unpack('>dd', state)
if #state > 32 then return whole end
local left = math.max(1, whole - seen)
return whole + -whole % (left / frexp(left) / 2)
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
local function initial_state(p, now)
if p[5] > 0 then return write(p, now, p[5], now, now) end
return nil
end
local function normalize(p, state, now)
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
local function grown(p, state, now, before, debt, last)
local since = now
if state and before > 0 then since = number(state, 3) end
return write(p, seen_at(state, now), debt, since, last)
end
local function take(p, state, now, cost)
local before, last = debt_at(p, state, now)
local debt = before + cost * p[1]
if debt > p[3] + p[4] then debt = math.min(debt, most_of(p)) end
return grown(p, state, now, before, debt, last)
end
local function absorb(p, state, now, cost)
local debt, last = debt_at(p, state, now)
return grown(p, state, now, debt, math.max(debt, math.min(debt + cost * p[1], taken_at_most(p))), last)
end
local function refund_since(p, state, now, cost, at)
local since = number(state, 3)
local debt, last = debt_at(p, state, now)
if debt == 0 or cost == 0 then return state end
local back = cost * p[1]
if at ~= ANY and at ~= number(state, 2) then back = math.max(0, back - up(math.max(0, last - at), p[7]) * p[2]) end
if back == 0 then return state end
local rest = math.max(0, debt - back)
if rest > 0 then return write(p, seen_at(state, now), rest, since, last) end
if p[5] > 0 then return write(p, seen_at(state, now), 0, since, now) end
return nil
end
local function refund(p, state, now, cost, at)
if at ~= ANY and at < number(state, 3) then return state end
return refund_since(p, state, now, cost, at)
end
local function usage(p, state, now)
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
local function acquire_wait(p, state, now, cost)
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
return grown(p, state, now, debt, math.min(debt + p[3] + p[4], most_of(p)), last)
end
local function anchored(p)
return p[7] > 1
end
local function max_wait(p, cost)
if p[6] ~= 1 then return LONGEST end
return math.max(0, down(p[3] - cost * p[1], p[2]))
end
return {
least = 24, most = 48, step = 8, parameters = 7, kept_until = kept_until, initial_state = initial_state, translate = translate, normalize = normalize, wait = wait, take = take, absorb = absorb, refund = refund, refund_since = refund_since, usage = usage, acquire_wait = acquire_wait, max_wait = max_wait,
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
local function sized(algorithm, state)
if not state then return nil end
local size, least = #state, algorithm.least
if size < least or size > (algorithm.most or size) or (size - least) % algorithm.step ~= 0 then damaged() end
return state
end
local function kept_until(algorithm, state)
if not state then return 0 end
return algorithm.kept_until and algorithm.kept_until(state) or number(state, 1)
end
local function state_at(key_state, state, at)
if key_state.algorithm.initial_state then return state end
return live(state, at)
end
local function take(key_state, state, at, cost)
return key_state.algorithm.take(key_state.parameters, state_at(key_state, state, at), at, cost)
end
local function book(key_state, state, at, cost)
local run = key_state.algorithm.book
if run then return run(key_state.parameters, state, at, cost) end
return take(key_state, state, at, cost)
end
local function absorb(key_state, state, at, cost)
local run = key_state.algorithm.absorb or key_state.algorithm.take
return run(key_state.policy_parameters, state_at(key_state, state, at), at, cost)
end
local function saving_of(key_state, cost)
local saving = key_state.algorithm.saving
return saving and saving(key_state.parameters, cost) or 0
end
local function wait_of(key_state, state, at, cost, shaped)
local algorithm = key_state.algorithm
local wait = shaped and algorithm.acquire_wait or algorithm.wait
return wait(key_state.parameters, state_at(key_state, state, at), at, cost)
end
local function next_moment(key_state, state, from, cost, shaped)
local wait = wait_of(key_state, state, from, cost, shaped)
if wait == NEVER then return NEVER end
return from + wait
end
local function full_at(key_state, state, at)
local _, reset = key_state.algorithm.usage(key_state.parameters, state_at(key_state, state, at), at)
return at + reset
end
local MOMENT, ENVELOPE, OVERRIDDEN, SHARED = 67, 69, 79, 83
local function expiry_of(entry)
local queue, expiry = entry.queue, math.max(entry.blocked_until, entry.override_until)
if entry.state then expiry = math.max(expiry, number(entry.state, 1)) end
if entry.policy_state then expiry = math.max(expiry, number(entry.policy_state, 1)) end
if #queue > 0 then expiry = math.max(expiry, number(entry.queue_end_state, 1), queue[#queue - 1]) end
return expiry
end
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
local queue_length = #envelope.queue
if from <= #raw or queue_size % 16 > 0 or (queue_length > 0) ~= (envelope.queue_end_state ~= nil) then damaged() end
if expiry_of(envelope) <= now and not (policy_size and queue_length > 0) then return {} end
return envelope
end
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
local function counts_twice(key_state)
return key_state.override ~= '' and not key_state.algorithm.last
end
local function normalize_policy_state(key_state, from)
local known = live(key_state.policy_state, from)
key_state.policy_state = known and key_state.algorithm.normalize(key_state.policy_parameters, known, now)
if key_state.policy_state ~= known then key_state.changed, key_state.normalized = true, true end
end
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
local function policy_end(key_state)
local state, queue = key_state.policy_state, key_state.queue
if #queue == 0 or not counts_twice(key_state) then return 0 end
for i = 1, #queue, 2 do state = absorb(key_state, state, queue[i], queue[i + 1]) end
return number(state, 1)
end
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
key_state.state = live(algorithm.normalize(parameters, state, now), now)
end
key_state.parameters = parameters
end
local function end_override(key_state)
if counts_twice(key_state) then key_state.state = key_state.policy_state end
key_state.override, key_state.override_until = '', 0
key_state.policy_state, key_state.parameters = nil, key_state.policy_parameters
end
local MOST_BOOKED = 1000
local MOST_LATER = 100
local function project_end(key_state)
local state, queue = key_state.state, key_state.queue
for i = 1, #queue, 2 do state = book(key_state, state, queue[i], queue[i + 1]) end
key_state.queue_end_state = state
end
local function look_for_gaps(key_state)
if #key_state.queue == 0 then return end
key_state.has_gaps = 1
project_end(key_state)
end
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
local function next_with_margin(key_state, state, start, cost, previous)
local booking = key_state.booking
local moment = next_moment(key_state, state, start, cost, booking)
if not booking or booking.margin + booking.gap == 0 or key_state.algorithm.last or moment == now or moment == NEVER then return moment end
local back = next_moment(key_state, state, math.max(now, start - booking.margin), cost, true)
return math.max(moment, previous + booking.gap, back == now and 0 or back + booking.margin)
end
local function earliest_in_queue(key_state, first, cost)
local queue = key_state.queue
local size = #queue
if cost == 0 then return first end
if size == 0 then return next_with_margin(key_state, key_state.state, first, cost, 0) end
local last = queue[size - 1]
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
local function spend(key_state, how, at, cost)
key_state.changed = true
key_state.state = how(key_state, key_state.state, at, cost)
if counts_twice(key_state) then key_state.policy_state = absorb(key_state, key_state.policy_state, at, cost) end
end
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
local function start(key_state, at)
local algorithm = key_state.algorithm
key_state.state = algorithm.initial_state and algorithm.initial_state(key_state.parameters, at)
if key_state.state then key_state.is_new = true end
end
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
local function earliest(key_state, from)
local cost = key_state.cost
local booking = key_state.booking
if from > now and ((booking and saving_of(key_state, cost) > 0) or (not booking and key_state.algorithm.last)) then
return math.max(from, key_state.own_moment)
end
return earliest_in_queue(key_state, math.max(from, key_state.blocked_until), cost)
end
local function is_overfull(key_state)
if not key_state.booking then return false end
if #key_state.queue >= 2 * math.min(key_state.booking.max_waiting, MOST_BOOKED) then return true end
local max_wait = key_state.algorithm.max_wait
if not max_wait or key_state.own_moment == NEVER then return false end
return key_state.own_moment - math.max(now, key_state.blocked_until) > max_wait(key_state.parameters, key_state.cost)
end
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
local function refund(key_state, at, how)
local give_back = how or key_state.algorithm.refund
if not key_state.algorithm.last then
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
local function is_kept(key_state, operation)
if operation == 'peek' then return key_state.normalized end
return key_state.changed or (key_state.is_new and operation ~= 'refund')
end
local function keep_alive(key_state)
local shared = key_state.shared
local alive = ceil((math.max(key_state.at, now) - now + shared.keep_alive) / 1000)
if call('PTTL', shared.key) < alive then call('PEXPIRE', shared.key, format('%.0f', alive)) end
end
local function close(key_state)
for i = 1, #key_state.granted do call('PUBLISH', key_state.key, format('%.0f', key_state.granted[i])) end
if key_state.leaves_state and key_state.adapted and #key_state.queue == 0 and key_state.state == key_state.adapted then
key_state.state = key_state.read
end
local entry, expiry = entry_of(key_state)
write(key_state.place, entry, math.max(expiry, policy_end(key_state)))
end
local function with_escalation(rule)
local count = tonumber(string.sub(rule.tag, 4))
if not count then return rule end
local first, escalation = #rule - count, {}
for i = 1, count do escalation[i], rule[first + i] = rule[first + i], nil end
rule.tag, rule.escalation = string.sub(rule.tag, 1, 2), escalation
return rule
end
local function escalated(escalation, raw)
local within, forgive, denials = escalation[2], escalation[3], {}
if not raw or number(raw, 1) <= now then return 0, 0, denials, now end
local written, step, back = number(raw, 2), number(raw, 3), 0
if written - now > JITTER then back = written - now end
local seen, since = math.max(now, written - back), number(raw, 4) - back
if since + forgive <= seen then return 0, 0, denials, seen end
for i = 5, #raw / 8 do
local at = number(raw, i) - back
if at + within > seen then denials[#denials + 1] = at end
end
return math.min(step, #escalation - 3), since, denials, seen
end
local function strike(key_state)
local escalation, place = key_state.escalation, key_state.place + 1
local raw = read(place)
if raw and (byte(raw) ~= MOMENT or #raw % 8 ~= 0 or #raw < 32) then foreign(keys[offset + place]) end
local step, since, denials, seen = escalated(escalation, raw)
if #denials + 1 < escalation[1] then
local latest = math.max(since, seen)
local expiry = latest + escalation[step > 0 and 3 or 2]
write(place, pack('>dddd', expiry, seen, step, latest) .. packed(denials) .. pack('>d', seen), expiry)
return false
end
step = math.min(step + 1, #escalation - 3)
local micros = escalation[3 + step]
local ending = seen + micros
write(place, pack('>dddd', ending + escalation[3], seen, step, ending), ending + escalation[3])
key_state.step = step
block(key_state, micros)
return true
end
local function escalate(key_states, longest)
local blocks, escalates = false, false
for i = 1, #key_states do
if key_states[i].blocked_until > now then return false end
if key_states[i].escalation then escalates = true end
end
if not escalates then return false end
for i = 1, #key_states do
local key_state = key_states[i]
local wait = key_state.own_moment - now
if key_state.escalation and (wait > longest or is_overfull(key_state)) then
blocks = strike(key_state) or blocks
end
end
return blocks
end
local LAPSES, OWNER, BEGAN, KIND, RECORD_HEAD = 2, 3, 4, 5, 5
local KEEP, REFUND, SETTLED = 1, 2, 3
local function put(key_state, state)
if state ~= key_state.state then key_state.state, key_state.changed = state, true end
end
local function plus(a, b)
return math.min(a + b, LARGEST)
end
local function limits_of(key_states, parts)
local limits, spent = {}, nil
for i = 1, #key_states do
local key_state = key_states[i]
key_state.own_moment = now
if i > 1 and parts[i].algorithm.is_hold then
local numbers, amounts = key_state.state and unpacked(key_state.state) or NOTHING, {}
for n = 2, #numbers, 2 do
if numbers[n] > now then
amounts[#amounts + 1], amounts[#amounts + 2] = numbers[n], numbers[n + 1]
end
end
limits[#limits + 1] = { spent = spent, held = key_state, amounts = amounts, before = 0, given = parts[i].cost, soft = parts[i].at == 1 }
spent = nil
elseif i > 1 then
spent = key_state
end
end
return limits
end
local function is_taken(limit, kind)
return limit.spent and kind == KEEP
end
local function is_own(record, part, limits)
return #record == 0 or (record[OWNER] == part.at and #record == RECORD_HEAD + #limits)
end
local function refuse(key_state)
key_state.own_moment = NEVER
return NEVER
end
local function place_of(amounts, moment)
local place = 1
while place <= #amounts and amounts[place] < moment do place = place + 2 end
return place
end
local function take_out(limits, record, kind)
for i = 1, #limits do
local limit = limits[i]
local amounts, lapses = limit.amounts, record[LAPSES] or 0
limit.before = record[RECORD_HEAD + i] or 0
if not is_taken(limit, kind) then
if lapses <= now then limit.before = 0 end
local place = place_of(amounts, lapses)
if limit.before > 0 and amounts[place] == lapses then
local left = amounts[place + 1] - limit.before
if left > 0 then
amounts[place + 1] = left
else
table.remove(amounts, place)
table.remove(amounts, place)
end
end
end
end
end
local function write_amounts(limit)
local amounts = limit.amounts
if #amounts == 0 then return put(limit.held, nil) end
put(limit.held, pack('>d', amounts[#amounts - 1]) .. packed(amounts))
end
local function put_in(limit, lapses, amount)
local amounts = limit.amounts
local place = place_of(amounts, lapses)
if amounts[place] == lapses then
amounts[place + 1] = plus(amounts[place + 1], amount)
else
table.insert(amounts, place, amount)
table.insert(amounts, place, lapses)
end
write_amounts(limit)
end
local function moment_for(limit, amount, from)
local spent = limit.spent
if not spent then return amount <= limit.held.parameters[1] and from or NEVER end
spent.cost = amount
local moment = earliest(spent, now)
return moment == NEVER and NEVER or math.max(from, moment)
end
local function wait_for(limit, kind)
if limit.given <= limit.before or limit.soft then return 0 end
local need = is_taken(limit, kind) and limit.given - limit.before or limit.given
local amounts, others, from, best, place = limit.amounts, 0, now, NEVER, 1
for i = 2, #amounts, 2 do others = plus(others, amounts[i]) end
while true do
local moment = moment_for(limit, plus(need, others), from)
if moment ~= NEVER and (best == NEVER or moment < best) then best = moment end
if best == from or place > #amounts then break end
from, others = amounts[place], math.max(0, others - amounts[place + 1])
place = place + 2
end
return best == NEVER and NEVER or best - now
end
local function lapse_at(micros)
local step = 1
while 16 * step <= micros do step = step * 2 end
return ceil((now + micros) / step) * step
end
local function hold(key_states, parts, micros)
local limits, record = limits_of(key_states, parts), key_states[1].state and unpacked(key_states[1].state) or NOTHING
local kind = record[KIND] or parts[1].cost
if kind == 0 or kind == SETTLED or not is_own(record, parts[1], limits) then return refuse(key_states[1]) end
take_out(limits, record, kind)
local waits = 0
for i = 1, #limits do
local own = wait_for(limits[i], kind)
local key_state = limits[i].spent or limits[i].held
key_state.own_moment = own == NEVER and NEVER or now + own
waits = (waits == NEVER or own == NEVER) and NEVER or math.max(waits, own)
end
if waits ~= 0 then return waits end
local lapses = lapse_at(micros)
local numbers = { lapses + micros, lapses, parts[1].at, record[BEGAN] or now, kind }
for i = 1, #limits do
local limit = limits[i]
local amount = math.max(limit.before, limit.given)
if kind == REFUND and limit.given > limit.before then numbers[BEGAN] = now end
numbers[RECORD_HEAD + i] = amount
if is_taken(limit, kind) then
limit.spent.cost = amount - limit.before
take_or_book(limit.spent, now)
elseif amount > 0 then
put_in(limit, lapses, amount)
end
end
put(key_states[1], packed(numbers))
return 0
end
local function correct(key_state, more, at)
local has_ended = key_state.algorithm.has_ended
if has_ended and has_ended(key_state.parameters, now, at) then return end
key_state.cost = math.abs(more)
if more > 0 then charge(key_state) else refund(key_state, at, key_state.algorithm.refund_since) end
end
local function settle(key_states, parts, micros)
local limits, record = limits_of(key_states, parts), key_states[1].state and unpacked(key_states[1].state) or NOTHING
if #record == 0 or not is_own(record, parts[1], limits) then return refuse(key_states[1]) end
local kind, numbers = record[KIND], { now + micros, now, parts[1].at, record[BEGAN], SETTLED }
if kind == SETTLED then return 0 end
take_out(limits, record, kind)
for i = 1, #limits do
local limit = limits[i]
local taken = is_taken(limit, kind) and limit.before or 0
if not is_taken(limit, kind) then write_amounts(limit) end
if limit.spent then correct(limit.spent, limit.given - taken, math.min(record[BEGAN], now)) end
numbers[RECORD_HEAD + i] = limit.given
end
put(key_states[1], packed(numbers))
return 0
end
local MOST_TRIES = 10000
local TRACED = { ['traced consume'] = 'consume', ['traced peek'] = 'peek', ['traced hold'] = 'hold', ['traced settle'] = 'settle' }
local function reply_one(value)
replied = replied + 1
replies[replied] = value
end
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
local function wait_for_all(key_states, longest)
for i = 1, #key_states do
local key_state = key_states[i]
local hopeless = key_state.booking and saving_of(key_state, key_state.cost) > longest
key_state.own_moment = hopeless and NEVER or earliest(key_state, now)
end
local moment = common_moment(key_states)
return moment == NEVER and NEVER or moment - now
end
local function deny(key_states, wait, longest, taking)
if taking and escalate(key_states, longest) then wait = wait_for_all(key_states, longest) end
reply_call(key_states, DENIED, wait)
end
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
if key_state.booking then
key_state.booking = nil
wait = wait_for_all(key_states, longest)
end
return deny(key_states, wait, 0, taking)
end
local denied = wait > longest or (wait > 0 and (held or overfull))
if denied and roomy then
for i = 1, #key_states do key_states[i].booking = { margin = 0, gap = 0, max_waiting = key_states[i].booking.max_waiting } end
return admit(key_states, longest, taking)
end
if denied and held then return deny(key_states, wait, 0, taking and longest == 0) end
if denied then return deny(key_states, wait, longest, taking) end
if taking then
for i = 1, #key_states do take_or_book(key_states[i], now + wait) end
end
reply_call(key_states, ALLOWED, wait)
end
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
local function decide_bare(rule, operation, cost, count)
local algorithm, taking = rule.algorithm, operation ~= 'peek'
if algorithm.promote or (taking and operation ~= 'consume' and operation ~= 'acquire') then return 0 end
local raw = read(1)
local state, changed = nil, false
if raw then
if byte(raw) ~= MOMENT or #raw % 8 ~= 0 then return 0 end
state = live(sized(algorithm, raw), now)
end
if state then
state = algorithm.normalize(rule, raw, now)
if state ~= raw then state, changed = live(state, now), true end
end
if not state and algorithm.initial_state then
state = algorithm.initial_state(rule, now)
changed = changed or (taking and state ~= nil)
end
local wait_for = operation == 'acquire' and algorithm.acquire_wait or algorithm.wait
local done, wait = 0, wait_for(rule, state, now, cost)
while wait == 0 and taking and cost > 0 and done < count do
state, changed, done = algorithm.take(rule, state, now, cost), true, done + 1
replies[replied + 1], replies[replied + 2] = algorithm.usage(rule, state, now)
replied = replied + 2
if done < count then wait = wait_for(rule, state, now, cost) end
end
if done < count and (wait == 0 or (not rule.escalation and (wait < 0 or operation ~= 'acquire'))) then
local remaining, reset = algorithm.usage(rule, state, now)
replies[replied + 1], replies[replied + 2], replies[replied + 3], replies[replied + 4], replies[replied + 5] =
wait == 0 and SAME_ALLOWED or SAME_DENIED, count - done, wait, remaining, reset
replied, done = replied + 5, count
end
if changed then write(1, state or '', kept_until(algorithm, state)) end
return done
end
local function read_shared_rate(part)
local raw, config = read(3), keys[offset + 3]
if not raw then return false end
if #raw < 32 or #raw % 8 ~= 0 then foreign(config) end
local numbers = {}
for i = 1, #raw / 8 do
numbers[i] = (unpack('>d', raw, i * 8 - 7))
if not is_whole(numbers[i]) then foreign(config) end
end
if numbers[3] > 1 or #numbers < 3 + part.algorithm.parameters then foreign(config) end
part.shared = { key = config, rate_version = numbers[1], keep_alive = numbers[2] }
part.place = numbers[3] == 1 and 2 or 1
part.parameters = {}
for i = 4, #numbers do part.parameters[i - 3] = numbers[i] end
return true
end
local function consume(rule, cost, count)
entries[1], ends[1], group_size = nil, nil, 1
with_algorithm(rule)
local part = { place = 1, algorithm = rule.algorithm, parameters = rule, cost = cost, at = 0 }
for _ = 1 + decide_bare(rule, 'consume', cost, count), count do decide('consume', 0, { part }) end
save(1)
end
local function read_group(next)
local function one(least)
next = next + 1
return integer(arguments[next - 1], least)
end
local places, calls = one(1), {}
for c = 1, one(1) do
local operation = arguments[next]
next = next + 1
local request = { operation = operation, wait = one(0), times = one(1), parts = {} }
local place = 1
for i = 1, one(1) do
local rule = with_algorithm(with_escalation(rules[one(1)] or error('SLUICE no such rule')))
local part = { place = place, rule = rule, algorithm = rule.algorithm, parameters = rule, cost = one(0), at = one(ANY) }
part.escalation, place = rule.escalation, place + (rule.escalation and 2 or 1)
if operation == 'acquire' then part.booking = { margin = one(0), gap = one(0), max_waiting = one(0) } end
if operation == 'override' then
part.override = {}
for p = 1, one(0) do part.override[p] = one(0) end
end
request.parts[i] = part
end
calls[c] = request
end
return places, calls, next
end
local function decide_group(calls, places)
for place = 1, places do entries[place], ends[place] = nil, nil end
group_size = places
for i = 1, #calls do
local request = calls[i]
local first, done, known = request.parts[1], 0, true
if #first.rule == 0 then
known = read_shared_rate(first)
elseif #request.parts == 1 then
done = decide_bare(first.rule, request.operation, first.cost, request.times)
end
for _ = 1 + done, request.times do
if known then decide(request.operation, request.wait, request.parts) else reply_one(RATE_NOT_SET) end
end
end
for place = 1, places do save(place) end
end
return { consume = consume, read_group = read_group, decide_group = decide_group }
end)()
end
local known, fine, wrong, places, calls = replied, nil, nil, 1, nil
if last > offset then
fine, wrong = pcall(general.consume, rule, cost, times)
else
places, calls, next = general.read_group(next + 1)
last = offset + places
fine, wrong = pcall(general.decide_group, calls, places)
end
if not fine then
for n = known + 1, replied do replies[n] = nil end
wrong = type(wrong) == 'table' and wrong.err or wrong
if not declared and is_elsewhere(wrong) then
replied = known + 1
replies[replied] = ELSEWHERE
else
replied = known + 2
replies[known + 1], replies[replied] = not declared and is_undeclared(wrong) and UNDECLARED or FAILED, wrong
end
end
offset = offset + places
end
end
if is_packed then return cmsgpack.pack(replies) end
return replies`,
};
