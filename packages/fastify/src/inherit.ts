import { LIMITER_BASE_OPTIONS, prefetchDefault } from '@sluice/core/internal';
import { KEY_OPTIONS } from '@sluice/http';
import { ANSWERS, CHOICES, type RateLimitOptions } from './options.js';

/**
 * The plugin's options that a limit inherits, without `name`. Options come in groups: if `own` has one option of a group, it inherits none
 * of that group.
 */
export function inherited(plugin: RateLimitOptions, own: RateLimitOptions): RateLimitOptions {
  const { name: _, groupId: __, ...rest } = plugin as Record<string, unknown>;
  const gives = (name: keyof RateLimitOptions) => own[name] !== undefined;
  // A policy of the route may not support prefetching.
  if (CHOICES.some(gives)) rest.prefetch = prefetchDefault(plugin.prefetch);
  // Thresholds belong to a policy.
  if (CHOICES.some(gives)) delete rest.notify;
  const given = own.limiter !== undefined || own.rules !== undefined;
  const keyless = given || own.limits !== undefined;
  for (const group of [CHOICES, KEY_OPTIONS, ANSWERS]) {
    if (group.some(gives) || (group === KEY_OPTIONS && keyless)) for (const name of group) delete rest[name];
  }
  // A given limiter, or rules, have their own.
  if (given) for (const name of [...LIMITER_BASE_OPTIONS, 'ban', 'onBanReach']) delete rest[name];
  if (own.rules !== undefined) delete rest.cost;
  if (own.throw === true) for (const name of ['onExceeded', 'ban', 'onBanReach']) delete rest[name];
  // `max` and `timeWindow` are two halves of one policy, as in @fastify/rate-limit.
  const { max, timeWindow } = plugin;
  if (own.max !== undefined && timeWindow !== undefined) rest.timeWindow = timeWindow;
  if (own.max === undefined && own.timeWindow !== undefined && max !== undefined) rest.max = max;
  return rest;
}
