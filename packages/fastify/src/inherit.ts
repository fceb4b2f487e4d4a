import { KEY_OPTIONS, PLACE_OPTIONS, prefetchDefault } from '@sluice/core';
import { ANSWERS, CHOICES, type RateLimitOptions } from './options.js';

/**
 * The plugin's options for a limit that leaves them open; `name` is never inherited. A group of options of which `own` has one is replaced
 * as a whole.
 */
export function inherited(plugin: RateLimitOptions, own: RateLimitOptions): RateLimitOptions {
  const { name: _, groupId: __, ...rest } = plugin as Record<string, unknown>;
  const gives = (name: keyof RateLimitOptions) => own[name] !== undefined;
  // Beside a policy of the route's own it may not be possible.
  if (CHOICES.some(gives)) rest.prefetch = prefetchDefault(plugin.prefetch);
  const keyless = own.limiter !== undefined || own.limits !== undefined;
  for (const group of [CHOICES, KEY_OPTIONS, ANSWERS]) {
    if (group.some(gives) || (group === KEY_OPTIONS && keyless)) for (const name of group) delete rest[name];
  }
  // Of a limiter that is given, they are its own.
  if (own.limiter !== undefined)
    for (const name of [...PLACE_OPTIONS, 'ban', 'onBanReach']) delete rest[name];
  if (own.throw === true) for (const name of ['onExceeded', 'ban', 'onBanReach']) delete rest[name];
  // `max` and `timeWindow` are the two halves of one policy, as in @fastify/rate-limit.
  const { max, timeWindow } = plugin;
  if (own.max !== undefined && timeWindow !== undefined) rest.timeWindow = timeWindow;
  if (own.max === undefined && own.timeWindow !== undefined && max !== undefined) rest.max = max;
  return rest;
}
