-- A text that operators change for all processes, with its versions. The list of versions is one key and each text another, all in one slot.
-- KEYS[1]   for read: the list or a text; for push: the list
-- KEYS[2]   for push: the new text; KEYS[3…]: texts to delete
-- ARGV[1]   read | push
-- ARGV[2]   for push: the list as the caller has read it
-- ARGV[3]   for push: the line of the new version, without its time
-- ARGV[4]   for push: the lines that stay
-- ARGV[5]   for push: the new text
-- Reply: to read what is there, '' if nothing is; to push the list as it is now, '' if it was not the one that the caller has read.

local list = redis.call('GET', KEYS[1]) or ''
if ARGV[1] == 'read' then return list end
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
