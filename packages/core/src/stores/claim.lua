-- Lets one of several processes do something: the first one that asks.
-- KEYS[1]   what is claimed
-- ARGV[1]   ms for which no other process gets it
-- Reply: 1 for the first, otherwise 0

return redis.call('SET', KEYS[1], '', 'PX', ARGV[1], 'NX') and 1 or 0
