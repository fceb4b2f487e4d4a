import { type LimiterDefinition, NO_POLICIES } from '../board/definition.js';
import { announce } from '../board/definitions.js';
import type { Store } from '../stores/store.js';
import { LAYOUT, type Limits } from './limits.js';

/** Makes a limiter known to the other processes of its store. @returns a function that ends it */
export function announceLimiter(store: Store, limits: Limits): () => void {
  const { limiter, keyPrefix, hashTag = '', policies, escalate } = limits;
  const id = JSON.stringify([limiter, keyPrefix, hashTag, policies, escalate]);
  return announce(store.fleet, LAYOUT, id, () => limits.definition('limiter'));
}

/** `limiter`: the numbers of a pool do not depend on the call. */
export type PoolKind = 'limiter' | 'factory' | 'per-request';

/**
 * Makes limiters known that are created at run time: by the default plan, or by the one used last.
 * @param plans their numbers for each plan, the default one first
 */
export function announcePool(
  store: Store,
  kind: PoolKind,
  name: string,
  latest: () => Limits,
  plans: () => LimiterDefinition['plans'],
): () => void {
  return announce(store.fleet, LAYOUT, `${kind} ${name}`, () => {
    const byPlan = plans();
    return { ...latest().definition(kind), ...Object.values(byPlan ?? {})[0], plans: byPlan };
  });
}

/** Makes a combination known. @param members the names of its limiters, by their names in it */
export function announceCombined(
  store: Store,
  name: string,
  members: Readonly<Record<string, Limits>>,
): () => void {
  const named = Object.fromEntries(Object.entries(members).map(([member, { limiter }]) => [member, limiter]));
  const [first] = Object.values(members) as [Limits];
  const { keyPrefix, hashTag } = first;
  return announce(store.fleet, LAYOUT, JSON.stringify([name, named]), () => ({
    kind: 'combined',
    name,
    keyPrefix,
    hashTag,
    ...NO_POLICIES,
    members: named,
  }));
}
