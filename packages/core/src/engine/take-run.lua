-- Decides keys in a row, each with `times` equal calls to consume, up to the first key that is not that simple. scripts/lua.mjs sets it into
-- decide.lua once for each algorithm that has a take-run.lua, and that file into its middle: no function is called for a key.
-- An algorithm's take-run.lua decides the next `wanted` calls of a key, as far as they are answered alike, or breaks if they are not that simple:
--   before  rule (parameters), now, cost, wanted, state (false for none)
--   after   count (how many are allowed; 0: all are denied), remaining (after the first), reset;
--           if denied: wait; if allowed: state, ends (its key must last until then), and for a run of several: first and owed, as expandRun
--           reads them; ended: the TTL of the key lasts until then, if it holds a state
if offset >= to then
  from, to, writes_many = offset, last, false
  if to - from == 1 then
    raws = try('GET', keys[to])
    if type(raws) ~= 'table' then raws = { raws } end
  else
    if to - from > MOST_READ then to = from + MOST_READ end
    raws = try('MGET', elements(keys, from + 1, to))
    -- Keys that are not declared are read, and written, one by one.
    writes_many = knows_msetex and declared
  end
end
simple = true
-- Keys in a row with one TTL are written together by MSETEX, in the end: each key and its state are in `writes`, and `rows` has for each such
-- row its first place there, the TTL (0: each key keeps its own; below 0: no key may be there), and offset and replied before it.
local writes_end, rows_end, row_life = 0, 0, nil
while offset < to do
  local known, raw, done, ends, ended = replied, raws[offset - from + 1], 0, nil, nil
  local state = raw
  -- Nothing at all when it could not be read.
  while done < times and raw ~= nil do
    local wanted = times - done
    local count, remaining, reset, wait, first, owed
    -- @take-run
    -- A damaged state: the group decides alone, and fails.
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
    -- Its TTL is long enough, and no key expires while a script runs.
    local lasts = raw and ends <= ended
    if lasts and not writes_many and #state == #raw then
      written = try('SETRANGE', key, '0', state) == #state
    else
      -- A key is written together with its TTL. One ms more than needed: the entry itself says when it ends, to the µs.
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
          -- To MGET a key that holds something else than a string is as good as none.
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
  -- The options of the command take the place of what follows in the list, until it has run.
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
    -- Nothing of the row was written. From its first key on they are decided again, and each is written by itself.
    offset, writes_many = rows[row + 2], false
    for n = rows[row + 3] + 1, replied do replies[n] = nil end
    replied = rows[row + 3]
    break
  end
end
