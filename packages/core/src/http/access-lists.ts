import type { MaybePromise } from '../maybe-promise.js';
import { compileList } from './address-list.js';
import { keyForFunctions, plainKeys } from './key-of-request.js';
import { checkFunction } from './option-functions.js';
import { type CountingOptions, type Keys, type LimitChoice, withKey } from './request-limit-options.js';
import type { RequestView } from './views.js';

/** What the lists say about a request: it passes uncounted, it is denied, or nothing. */
type Listed = 'allowed' | 'denied' | undefined;

/** Checks the lists, and resolves the request's keys if they are needed. */
export type AccessLists<Args> = (
  request: RequestView,
  args: Args,
  keysOf: () => MaybePromise<Keys>,
) => Promise<{ readonly listed: Listed; readonly keys?: Keys }>;

/**
 * Checks the address and the functions even if the request has no key: a health check from an allowed address needs no user.
 * @returns undefined without lists
 * @throws TypeError naming the invalid entry
 */
export function accessLists<Args extends readonly unknown[]>(
  where: string,
  { allowList, denyList, limits, limiter }: CountingOptions<Args> & LimitChoice<Args>,
): AccessLists<Args> | undefined {
  if (allowList === undefined && denyList === undefined) return undefined;
  const combined = limits !== undefined || (limiter !== undefined && 'limiters' in limiter);
  const isDenied = listOf(`${where}: denyList`, denyList, combined);
  const isAllowed = listOf(`${where}: allowList`, allowList, combined);
  const check = async (request: RequestView, args: Args, keys?: Keys): Promise<Listed> => {
    if (await isDenied(request, args, keys)) return 'denied';
    return (await isAllowed(request, args, keys)) ? 'allowed' : undefined;
  };
  // Functions run only once, with the key, so the first check is skipped for them.
  const byFunction = typeof allowList === 'function' || typeof denyList === 'function';
  return async (request, args, keysOf) => {
    let listed = byFunction ? undefined : await check(request, args);
    if (listed !== undefined) return { listed };
    let keys: Keys;
    try {
      keys = await keysOf();
      if (byFunction) keyForFunctions(keys);
    } catch (error) {
      if (byFunction) listed = await check(request, args);
      if (listed === undefined) throw error;
      return { listed };
    }
    return { listed: await check(request, args, keys), keys };
  };
}

type List<Args> = (request: RequestView, args: Args, keys: Keys | undefined) => MaybePromise<boolean>;

function listOf<Args extends readonly unknown[]>(
  what: string,
  list: CountingOptions<Args>['allowList'],
  combined: boolean,
): List<Args> {
  if (list === undefined) return () => false;
  if (typeof list === 'function') {
    return (_request, args, keys) => list(...withKey(args, keys === undefined ? '' : keyForFunctions(keys)));
  }
  if (!Array.isArray(list)) checkFunction(`${what}, when no array of strings,`, list);
  const matches = compileList(what, list);
  return (request, _args, keys) => matches(request.ip, keys === undefined ? [] : plainKeys(keys, combined));
}
