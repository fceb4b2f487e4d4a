// Generated from shared-text.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const sharedTextScript: Script = {
  name: 'shared-text',
  sha1: '12c8ee46f2fd620dc38cee4aab266aca1bbfd9be',
  source: `if ARGV[1] == 'kept' then
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
redis.call('PUBLISH', KEYS[1], '1')
redis.call('SET', KEYS[2], ARGV[5])
redis.call('SET', KEYS[1], changed)
for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
return changed`,
};
