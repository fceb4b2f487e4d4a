-- A text that operators change for all processes, with its versions. The list of versions is one key and each text another, all in one slot.
-- KEYS[1]   for read: the list or a text; for kept: texts, with KEYS[2…]; for push: the list
-- KEYS[2]   for push: the new text; KEYS[3…]: texts to delete
-- ARGV[1]   read | kept | push
-- ARGV[2]   for read: the most bytes; for push: the list as the caller has read it
-- ARGV[3]   for push: the line of the new version, without its time
-- ARGV[4]   for push: the lines that stay
-- ARGV[5]   for push: the new text
-- Reply: to read what is there, '' if nothing is, a list of one text that says why it is not sent; to kept 1 for each text that is there, and
--           otherwise 0; to push the list as it is now, '' if it was not the one that the caller has read.

if ARGV[1] == 'kept' then
  local kept = ''
  for i = 1, #KEYS do kept = kept .. (redis.call('GET', KEYS[i]) and '1' or '0') end
  return kept
end

local list = redis.call('GET', KEYS[1]) or ''
if ARGV[1] == 'read' then
  if #list > tonumber(ARGV[2]) then return { 'it has ' .. #list .. ' bytes' } end
  return list
end
if ARGV[1] ~= 'push' then error('SLUICE unknown action: ' .. ARGV[1]) end
if list ~= ARGV[2] then return '' end
local time = redis.call('TIME')
local ms = string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local changed = ms .. ' ' .. ARGV[3] .. ARGV[4]
-- First, because a user may lack the right: then nothing is changed. Nobody sees the message before the end of the script.
redis.call('PUBLISH', KEYS[1], '1')
redis.call('SET', KEYS[2], ARGV[5])
redis.call('SET', KEYS[1], changed)
for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
return changed
