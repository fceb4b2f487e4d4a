/** As scripts see them: the first that know MSETEX, and one that does not. */
export const REDIS_8_4 = 'REDIS_VERSION_NUM = 0x080400';
export const VALKEY_9_1 = 'REDIS_VERSION_NUM = 0x070204, VALKEY_VERSION_NUM = 0x090100';
const REDIS_7_0 = 'REDIS_VERSION_NUM = 0x070000';

/**
 * A script as a server that knows MSETEX runs it, on any server: MSETEX is made of SET, and like the real one writes all keys or none. Behind
 * the reply is how many calls of MSETEX wrote, and how many did not.
 */
export const asNewerServer = (source: string, version: string): string => `
local real, wrote, refused = redis, 0, 0
local function msetex(count, ...)
  local given, size = { ... }, 2 * count
  local options = table.concat(given, ' ', size + 1)
  if options ~= 'KEEPTTL' and not options:match('^PX %d+$') and not options:match('^NX PX %d+$') then
    return { err = 'ERR syntax error: ' .. options }
  end
  for i = 1, size, 2 do
    if given[size + 1] == 'NX' and real.call('EXISTS', given[i]) == 1 then
      refused = refused + 1
      return 0
    end
  end
  for i = 1, size, 2 do
    if options == 'KEEPTTL' then
      real.call('SET', given[i], given[i + 1], 'KEEPTTL')
    else
      real.call('SET', given[i], given[i + 1], 'PX', given[#given])
    end
  end
  wrote = wrote + 1
  return 1
end
local redis = {
  ${version},
  call = real.call,
  pcall = function(command, ...)
    if command == 'MSETEX' then return msetex(...) end
    return real.pcall(command, ...)
  end,
}
local function run()
${source}
end
return { run(), wrote, refused }`;

/** A script as a server that does not know MSETEX runs it. */
export const asOlderServer = (source: string): string => `
local real = redis
local redis = { ${REDIS_7_0}, call = real.call, pcall = real.pcall }
local function run()
${source}
end
return { run(), 0, 0 }`;
