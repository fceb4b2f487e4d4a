import type { LimiterKey } from '../keys/key-part.js';
import { keyPart } from '../keys/key-part.js';
import { LimitType, parseLimitType } from '../keys/limit-type.js';
import type { CombinedKeys } from '../limiter/combined-limiter.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { checkInteger, describe } from '../options.js';
import { checkFunction } from './option-functions.js';
import { compileRequestKey, serverKey } from './request-key.js';
import {
  KEY_OPTIONS,
  type KeyOptions,
  type Keys,
  type RequestLimitOptions,
} from './request-limit-options.js';
import type { RequestView } from './views.js';

export type KeyOfRequest<Args> = (request: RequestView, args: Args) => MaybePromise<Keys>;

const WAYS = ['limitType', 'key', 'keyGenerator'] as const;

/**
 * Compiles the key of a limit's requests.
 * @throws RangeError, TypeError naming the invalid option
 */
export function keyOfRequest<Args extends readonly unknown[]>(
  where: string,
  { limits, ...options }: RequestLimitOptions<Args>,
): KeyOfRequest<Args> {
  if (limits === undefined) return keyOf(where, options, Object.keys(Object(options.limiter).limiters ?? {}));
  const spare = KEY_OPTIONS.find((name) => options[name] !== undefined);
  if (spare !== undefined) {
    throw new TypeError(
      `${where}: each of the limits has a key of its own: give ${spare} to those it is for`,
    );
  }
  const parts = Object.entries(limits).map(
    ([name, limit]) => [name, keyOf(`${where}: limits.${name}`, limit)] as const,
  );
  return async (request, args) => {
    const keys = parts.map(async ([name, of]) => [name, (await of(request, args)) as LimiterKey] as const);
    return Object.fromEntries(await Promise.all(keys));
  };
}

/** The keys as text, for lists. @throws KeyResolutionError for an invalid key: `?phone[]=` must not match a list */
export function plainKeys(keys: Keys, combined: boolean): string[] {
  return combined && typeof keys === 'object' && keys !== null && !Array.isArray(keys)
    ? Object.values(keys).map((key) => keyPart(key, 'the key of a request'))
    : [keyPart(keys, 'the key of a request')];
}

/**
 * The key as it is passed to functions in options: as it was resolved, usually a string. Several limits: all keys by name, as JSON.
 * @throws KeyResolutionError if it is not a valid key
 */
export function keyForFunctions(keys: Keys): string {
  if (typeof keys === 'object' && keys !== null && !Array.isArray(keys)) return JSON.stringify(keys);
  keyPart(keys, 'the key of a request');
  return keys as string;
}

/**
 * Checks the result of `keyGenerator`: one key, or one for each of `names`.
 * @throws KeyResolutionError of status 500 for an invalid key, because the function belongs to the server
 */
function generatedKeys(keys: Keys, names: readonly string[]): Keys {
  if (names.length === 0) {
    if (typeof keys !== 'string' || keys === '')
      serverKey(keys, 'The result of keyGenerator', 'keyGenerator');
    return keys;
  }
  const byName = Object(keys) as CombinedKeys<string>;
  for (const name of names)
    serverKey(byName[name], `The result of keyGenerator for '${name}'`, 'keyGenerator');
  return keys;
}

/** @throws RangeError, TypeError naming an option that is invalid or has no effect */
function keyOf<Args extends readonly unknown[]>(
  where: string,
  options: KeyOptions<Args>,
  names: readonly string[] = [],
): KeyOfRequest<Args> {
  const { keyGenerator, key, user, ipv6Subnet } = options;
  checkFunction(`${where}: keyGenerator`, keyGenerator);
  checkFunction(`${where}: user`, user);
  if (key !== undefined && typeof key !== 'string') {
    throw new TypeError(`${where}: key must be a string, such as '#{user.id}', not ${describe(key)}`);
  }
  const idle = (option: string, beside: string, remedy: string) =>
    new TypeError(`${where}: ${option} has no effect with ${beside}: ${remedy}`);

  if (keyGenerator !== undefined) {
    const ways = WAYS.filter((name) => options[name] !== undefined);
    if (ways.length > 1) throw new TypeError(`${where}: give one of ${ways.join(', ')}, not several`);
    if (user !== undefined) throw idle('user', 'keyGenerator', "use limitType 'USER' or omit user");
    if (ipv6Subnet !== undefined) {
      throw idle('ipv6Subnet', 'keyGenerator', 'call clientIp(address, { ipv6Subnet }) in the function');
    }
    return (_request, args) => {
      const keys = keyGenerator(...args);
      return isPromise(keys) ? keys.then((made) => generatedKeys(made, names)) : generatedKeys(keys, names);
    };
  }

  const { limitType: given = key === undefined ? LimitType.IP : LimitType.CUSTOM } = options;
  const limitType = parseLimitType(given);
  const beside = `limitType ${limitType}`;
  if (key === undefined && limitType === LimitType.CUSTOM) {
    throw new TypeError(`${where}: limitType CUSTOM needs a key, such as '#{user.id}'`);
  }
  if (key !== undefined && limitType !== LimitType.CUSTOM) {
    throw idle(`key ${describe(key)}`, beside, "use 'CUSTOM' or omit key");
  }
  if (user !== undefined && limitType !== LimitType.USER) {
    throw idle('user', beside, "use 'USER' or omit user");
  }
  if (ipv6Subnet !== undefined && (limitType === LimitType.USER || limitType === LimitType.METHOD)) {
    throw idle('ipv6Subnet', beside, "use 'IP' or a key with #{ip}, or omit ipv6Subnet");
  }
  if (ipv6Subnet !== undefined && key !== undefined && !/#[{<]ip\b/.test(key)) {
    throw idle('ipv6Subnet', `key ${describe(key)}`, 'which has no #{ip}: omit it');
  }
  const compile = (subnet?: number) =>
    compileRequestKey({ limitType, key, user, ...(subnet !== undefined && { ipv6Subnet: subnet }) });
  if (typeof ipv6Subnet !== 'function') return compile(ipv6Subnet);
  compile(); // throws for an invalid template now
  const bySubnet = new Map<number, ReturnType<typeof compile>>();
  return (request, args) =>
    andThen(ipv6Subnet(...args), (subnet) => {
      const made = bySubnet.get(subnet) ?? compile(checkInteger(`${where}: ipv6Subnet`, subnet, 32, 128));
      bySubnet.set(subnet, made);
      return made(request);
    });
}

/** Does a limit count by the client's address as the framework reports it? */
export function countsAddresses<Args extends readonly unknown[]>({
  limits,
  keyGenerator,
  key,
  limitType,
}: RequestLimitOptions<Args>): boolean {
  if (limits !== undefined) return Object.values(limits).some((limit) => countsAddresses(limit));
  if (keyGenerator !== undefined) return false;
  return key === undefined ? (limitType ?? LimitType.IP) === LimitType.IP : /#[{<]ip\b/.test(key);
}
