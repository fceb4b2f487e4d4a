-- Decides keys in a row, each with `times` equal calls to consume, up to the first key that is not that simple. scripts/lua.mjs sets it into
-- decide.lua once for each algorithm that has a take-run.lua, and that file into its middle: no function is called for a key.
-- An algorithm's take-run.lua decides the next `wanted` calls of a key, as far as they are answered alike, or breaks if they are not that simple:
--   before  rule (parameters), now, cost, wanted, state (false for none)
--   after   count (how many are allowed; 0: all are denied), remaining (after the first), reset;
--           if denied: wait; if allowed: state, ends (its key must last until then), and for a run of several: first and owed, as expandRun
--           reads them; ended: the TTL of the key lasts until then, if it holds a state
if offset >= to then
  from, to = offset, last
  if to - from == 1 then
    raws = try('GET', keys[to])
    if type(raws) ~= 'table' then raws = { raws } end
  else
    if to - from > MOST_READ then to = from + MOST_READ end
    raws = try('MGET', elements(keys, from + 1, to))
  end
end
simple = true
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
    if raw and ends <= ended and #state == #raw then
      -- Its TTL is long enough, and no key expires while a script runs.
      written = try('SETRANGE', key, '0', state) == #state
    else
      -- A key is written together with its TTL. One ms more than needed: the entry itself says when it ends, to the µs.
      local life = floor((ends - now) / 1000) + 2
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
  if not written then
    for n = known + 1, replied do replies[n] = nil end
    replied, simple = known, false
    break
  end
  offset = offset + 1
end
