import type { MaybePromise } from '../maybe-promise.js';
import { compileList } from './address-list.js';
import { checkFunction } from './check-function.js';
import { type Keys, keyForFunctions, plainKeys } from './key-of-request.js';
import { type CountingOptions, type LimitChoice, withKey } from './request-limit-options.js';
import type { RequestView } from './request-view.js';

/** What the lists say of a request: it goes on uncounted, it is turned away, or nothing. */
type Listed = 'allowed' | 'denied' | undefined;

/** Checks the lists, and resolves the request's keys if they are needed. */
export type Lists<Args> = (
  request: RequestView,
  args: Args,
  keysOf: () => MaybePromise<Keys>,
) => Promise<{ readonly listed: Listed; readonly keys?: Keys }>;

/**
 * The address and the functions are checked even if the request has no key: a health check from an allowed address needs no user.
 * @returns undefined without lists
 * @throws TypeError naming the invalid entry
 */
export function listsOf<Args extends readonly unknown[]>(
  where: string,
  { allowList, denyList, limits, limiter }: CountingOptions<Args> & LimitChoice<Args>,
): Lists<Args> | undefined {
  if (allowList === undefined && denyList === undefined) return undefined;
  const combined = limits !== undefined || (limiter !== undefined && 'limiters' in limiter);
  const denied = listOf(`${where}: denyList`, denyList, combined);
  const allowed = listOf(`${where}: allowList`, allowList, combined);
  const ask = async (request: RequestView, args: Args, keys?: Keys): Promise<Listed> => {
    if (await denied(request, args, keys)) return 'denied';
    return (await allowed(request, args, keys)) ? 'allowed' : undefined;
  };
  // Functions run only once, with the key, so the first check is skipped for them.
  const byFunction = typeof allowList === 'function' || typeof denyList === 'function';
  return async (request, args, keysOf) => {
    let listed = byFunction ? undefined : await ask(request, args);
    if (listed !== undefined) return { listed };
    let keys: Keys;
    try {
      keys = await keysOf();
      if (byFunction) keyForFunctions(keys);
    } catch (error) {
      if (byFunction) listed = await ask(request, args);
      if (listed === undefined) throw error;
      return { listed };
    }
    return { listed: await ask(request, args, keys), keys };
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
