import type { MaybePromise } from '@sluice/core/internal';
import { compileList } from './address-list.js';
import { keyForFunctions, listOfKeys } from './key-of-request.js';
import { type Keys, type RequestLimitOptions, withKey } from './request-limit-options.js';
import type { RequestView } from './views.js';

/** The list that a request is on. An allowed request passes uncounted. */
type Listed = 'allowed' | 'denied' | undefined;

/** Checks the lists, and resolves the request's keys if they are needed. */
export type AccessLists<Args> = (
  request: RequestView,
  args: Args,
  keysOf: () => MaybePromise<Keys | undefined>,
) => Promise<{ readonly listed: Listed; readonly keys?: Keys | undefined }>;

/**
 * Checks the address and the functions even if the request has no key: a health check from an allowed address needs no user.
 * @returns undefined without lists
 */
export function accessLists<Args extends readonly unknown[]>(
  where: string,
  { allowList, denyList }: RequestLimitOptions<Args>,
): AccessLists<Args> | undefined {
  if (allowList === undefined && denyList === undefined) return undefined;
  const isDenied = listOf(`${where}: denyList`, denyList);
  const isAllowed = listOf(`${where}: allowList`, allowList);
  const check = async (request: RequestView, args: Args, keys?: Keys): Promise<Listed> => {
    if (await isDenied(request, args, keys)) return 'denied';
    return (await isAllowed(request, args, keys)) ? 'allowed' : undefined;
  };
  // Functions run only once, with the key, so the first check is skipped for them.
  const byFunction = typeof allowList === 'function' || typeof denyList === 'function';
  return async (request, args, keysOf) => {
    let listed = byFunction ? undefined : await check(request, args);
    if (listed !== undefined) return { listed };
    let keys: Keys | undefined;
    try {
      keys = await keysOf();
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
  list: RequestLimitOptions<Args>['allowList'],
): List<Args> {
  if (list === undefined) return () => false;
  if (typeof list === 'function')
    return (_request, args, keys) => list(...withKey(args, keys === undefined ? '' : keyForFunctions(keys)));
  const matches = compileList(what, list);
  return (request, _args, keys) => matches(request.ip, keys === undefined ? [] : listOfKeys(keys));
}
