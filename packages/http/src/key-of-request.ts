import { type LimiterKey, LimitType } from '@sluice/core';
import {
  andThen,
  checkFunction,
  checkInteger,
  compileClientKey,
  compileKey,
  compileKeyList,
  describe,
  firstKey,
  getOrCreate,
  isKeyList,
  type ListedKey,
  type MaybePromise,
  noEffect,
  onlyOne,
  parseLimitType,
} from '@sluice/core/internal';
import { addressError } from './key-errors.js';
import { requestKey, requestUser, requestUserIfAny, serverKey, type UserOf } from './request-key.js';
import {
  KEY_OPTIONS,
  type KeyOptions,
  type Keys,
  type RequestLimitOptions,
} from './request-limit-options.js';
import type { RequestView } from './views.js';

export type KeyOfRequest<Args> = (request: RequestView, args: Args) => MaybePromise<Keys>;

/** Compiles the key of a limit's requests. @throws RangeError, TypeError naming the invalid option */
export function keyOfRequest<Args extends readonly unknown[]>(
  where: string,
  { limits, ...options }: RequestLimitOptions<Args>,
): KeyOfRequest<Args> {
  if (limits === undefined) return keyOf(where, options, Object.keys(Object(options.limiter).limiters ?? {}));
  const spare = KEY_OPTIONS.find((name) => options[name] !== undefined);
  if (spare !== undefined)
    throw new TypeError(`${where}: each of the limits has its own key: pass ${spare} in limits`);
  const parts = Object.entries(limits).map(
    ([name, limit]) => [name, keyOf(`${where}: limits.${name}`, limit)] as const,
  );
  return async (request, args) => {
    const keys = parts.map(async ([name, of]) => [name, (await of(request, args)) as LimiterKey] as const);
    return Object.fromEntries(await Promise.all(keys));
  };
}

/** The keys that a request counts for: one, or one for each of several limits. */
export const listOfKeys = (keys: Keys): LimiterKey[] =>
  typeof keys === 'object' ? Object.values(keys) : [keys];

/** The key as functions in options get it: as it was resolved, usually a string. Several limits: all keys by name, as JSON. */
export const keyForFunctions = (keys: Keys): string =>
  typeof keys === 'object' ? JSON.stringify(keys) : (keys as string);

const ALL = 'all'; // the key of limitType METHOD

function keyOf<Args extends readonly unknown[]>(
  where: string,
  options: KeyOptions<Args>,
  names: readonly string[] = [],
): KeyOfRequest<Args> {
  const { keyGenerator, key, user, ipv6Subnet } = options;
  checkFunction(`${where}: keyGenerator`, keyGenerator);
  checkFunction(`${where}: user`, user);
  const listed = isKeyList(key) ? compileKeyList(`${where}: key`, key) : undefined;
  if (key !== undefined && typeof key !== 'string' && listed === undefined) {
    throw new TypeError(
      `${where}: key must be a string such as '#{user.id}', or a list such as ['USER', 'IP'], not ${describe(key)}`,
    );
  }
  if (keyGenerator !== undefined) {
    onlyOne(where, options, ['limitType', 'key', 'keyGenerator']);
    if (user !== undefined)
      throw noEffect(where, 'user', "with keyGenerator: use limitType 'USER' or omit user");
    if (ipv6Subnet !== undefined) {
      const remedy = 'call clientIp(address, { ipv6Subnet }) in the function';
      throw noEffect(where, 'ipv6Subnet', `with keyGenerator: ${remedy}`);
    }
    // An invalid key has status 500, because the function belongs to the server.
    const checked = (keys: Keys): Keys => {
      if (names.length === 0) serverKey(keys, 'The result of keyGenerator', 'keyGenerator');
      for (const name of names)
        serverKey(Object(keys)[name], `The result of keyGenerator for '${name}'`, 'keyGenerator');
      return keys;
    };
    return (_request, args) => andThen(keyGenerator(...args), checked);
  }

  const { limitType: given = key === undefined ? LimitType.IP : LimitType.CUSTOM } = options;
  const limitType = parseLimitType(given);
  const idle = (option: string, remedy: string) =>
    noEffect(where, option, `with limitType ${limitType}: ${remedy}`);
  if (key === undefined && limitType === LimitType.CUSTOM)
    throw new TypeError(`${where}: limitType CUSTOM needs a key, such as '#{user.id}'`);
  if (key !== undefined && limitType !== LimitType.CUSTOM)
    throw idle(`key ${describe(key)}`, "use 'CUSTOM' or omit key");
  if (user !== undefined && !countsUsers(options)) throw idle('user', "use 'USER' or omit user");
  if (ipv6Subnet !== undefined && !countsAddresses(options))
    throw idle('ipv6Subnet', "use 'IP' or a key with #{ip}, or omit ipv6Subnet");
  if (limitType === LimitType.METHOD) return () => ALL;
  if (limitType === LimitType.USER) return (request) => requestUser(request, user);
  const compile = (subnet: number | undefined) => {
    const clientKey = compileClientKey({ ipv6Subnet: subnet }, addressError);
    if (listed !== undefined) return firstOfList(listed, clientKey, user);
    return key === undefined ? clientKey : requestKey(compileKey(key as string), clientKey).read;
  };
  if (typeof ipv6Subnet !== 'function') return compile(ipv6Subnet);
  compile(undefined); // throws for an invalid template now
  const bySubnet = new Map<number, ReturnType<typeof compile>>();
  return (request, args) =>
    andThen(ipv6Subnet(...args), (subnet) => {
      const checked = () => compile(checkInteger(`${where}: ipv6Subnet`, subnet, 32, 128));
      return getOrCreate(bySubnet, subnet, checked)(request);
    });
}

/** Reads the first key of a list that a request has; of the last one, a missing value is an error. */
const firstOfList = (
  keys: readonly ListedKey[],
  clientKey: (request: RequestView) => string,
  user: UserOf | undefined,
): ((request: RequestView) => MaybePromise<string>) =>
  firstKey(keys, ({ source, template }, isLast) => {
    if (template !== undefined) {
      const { read, readIfAny } = requestKey(template, clientKey);
      return isLast ? read : readIfAny;
    }
    if (source === LimitType.IP) return clientKey;
    if (source === LimitType.METHOD) return () => ALL;
    const read = isLast ? requestUser : requestUserIfAny;
    return (request) => read(request, user);
  });

/** Does a limit count by user? */
export function countsUsers({ keyGenerator, key, limitType }: KeyOptions<never>): boolean {
  if (keyGenerator !== undefined) return false;
  return isKeyList(key) ? key.includes(LimitType.USER) : limitType === LimitType.USER;
}

/** Does a limit count by the client's address as the framework reports it? */
export function countsAddresses(options: RequestLimitOptions<never>): boolean {
  const { limits, keyGenerator, key, limitType } = options;
  // Adapters call this before the options are checked, so these may be anything.
  if (limits !== undefined)
    return Object.values(Object(limits)).some((limit) => countsAddresses(Object(limit)));
  if (keyGenerator !== undefined) return false;
  if (key === undefined) return (limitType ?? LimitType.IP) === LimitType.IP;
  return [key].flat().some((one) => one === LimitType.IP || /#[{<]ip\b/.test(one));
}
