-- Reads what a key holds, for tools, and changes nothing. Redis 6 does not know the flag no-writes.
-- KEYS[1]   a storage key
-- Reply: the server's time (µs), the time to live (ms; -2 without a key), the value as hexadecimal digits: clients decode bytes as text

local time = redis.call('TIME')
local value = redis.call('GET', KEYS[1]) or ''
local digits = string.gsub(value, '.', function(one) return string.format('%02x', string.byte(one)) end)
return { time[1] .. string.format('%06d', tonumber(time[2])), string.format('%d', redis.call('PTTL', KEYS[1])), digits }
