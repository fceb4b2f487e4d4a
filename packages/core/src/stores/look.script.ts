// Generated from look.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const lookScript: Script = {
  name: 'look',
  sha1: 'dd23cf780ee66f5c7193a2e7f2db46f3e9e0781c',
  source: `local time = redis.call('TIME')
local value = redis.call('GET', KEYS[1]) or ''
local digits = string.gsub(value, '.', function(one) return string.format('%02x', string.byte(one)) end)
return { time[1] .. string.format('%06d', tonumber(time[2])), string.format('%d', redis.call('PTTL', KEYS[1])), digits }`,
};
