-- What the keys of a group hold, and the numbers in it. A stored value may be damaged, or of another program: each number that is read is checked,
-- so that only the calls of its group fail.

-- What the keys of a group hold, false for nothing; how long (µs) an entry that must be written is kept; and the number of keys.
local entries, ends, group_size = {}, {}, 1

local function foreign(key)
  error('SLUICE foreign value in ' .. key)
end

-- A stored number that no version writes.
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

-- Writes a key with its TTL, rounded up by at most 2 ms: the entry itself has its end in µs.
local function save(place)
  local forgotten = ends[place]
  if not forgotten then return end
  if entries[place] then
    call('SET', keys[offset + place], entries[place], 'PX', floor((forgotten - now) / 1000) + 2)
  else
    call('DEL', keys[offset + place])
  end
end

-- Every stored number is whole, from 0 to 2^53 - 1.
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
