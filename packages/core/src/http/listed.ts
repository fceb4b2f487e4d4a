import type { MaybePromise } from '../maybe-promise.js';
import { compileList } from './address-list.js';
import { checkFunction } from './check-function.js';
import { type Keys, plainKeys } from './key-of-request.js';
import type { CountingOptions, LimitChoice } from './request-limit-options.js';
import type { RequestView } from './request-view.js';

/** What the lists say of a request: it goes on uncounted, it is turned away, or nothing. */
export type Listed = 'allowed' | 'denied' | undefined;

/** Asks the lists, once before the request's keys are made (`keys` is undefined) and once after. */
export type Lists<Args> = (request: RequestView, args: Args, keys: Keys | undefined) => Promise<Listed>;

/**
 * Addresses and functions speak before there is a key: a health check from an allowed address needs no user.
 * @returns undefined where there are no lists
 * @throws TypeError naming the entry that is wrong
 */
export function listsOf<Args extends readonly unknown[]>(
  where: string,
  { allowList, denyList, limits, limiter }: CountingOptions<Args> & LimitChoice<Args>,
): Lists<Args> | undefined {
  if (allowList === undefined && denyList === undefined) return undefined;
  const combined = limits !== undefined || (limiter !== undefined && 'limiters' in limiter);
  const denied = listOf(`${where}: denyList`, denyList, combined);
  const allowed = listOf(`${where}: allowList`, allowList, combined);
  return async (request, args, keys) => {
    if (await denied(request, args, keys)) return 'denied';
    return (await allowed(request, args, keys)) ? 'allowed' : undefined;
  };
}

type List<Args> = (request: RequestView, args: Args, keys: Keys | undefined) => MaybePromise<boolean>;

function listOf<Args extends readonly unknown[]>(
  what: string,
  list: CountingOptions<Args>['allowList'],
  combined: boolean,
): List<Args> {
  if (list === undefined) return () => false;
  if (typeof list === 'function') return (_request, args, keys) => keys === undefined && list(...args);
  if (!Array.isArray(list)) checkFunction(`${what}, when no array of strings,`, list);
  const matches = compileList(what, list);
  return (request, _args, keys) =>
    keys === undefined ? matches(request.ip, []) : matches(undefined, plainKeys(keys, combined));
}
