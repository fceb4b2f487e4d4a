import { bodyReader } from '@sluice/http';
import type { RouteOptions } from 'fastify';
import type { RateLimitHook } from './limit-hook.js';
import type { RateLimitHookName, RateLimitOptions } from './options.js';

/** The hooks that run before Fastify parses the body. */
const EARLY = ['onRequest', 'preParsing'] as const;

/** What reads the body in the limits that the program puts on a route itself. */
const readers = new WeakMap<object, string>();

/** @throws RangeError if valid options read the body at a hook that has none yet: every request would get a 500 */
export function checkBodyHook(where: string, hook: RateLimitHookName, options: RateLimitOptions): void {
  const reader = bodyReader(options);
  if (reader !== undefined) checkReader(where, hook, reader);
}

export function rememberBodyReader(hook: RateLimitHook, options: RateLimitOptions): void {
  const reader = bodyReader(options);
  if (reader !== undefined) readers.set(hook, reader);
}

/** @throws RangeError for a limit among a route's own hooks, as `checkBodyHook` does */
export function checkRouteHooks(route: RouteOptions): void {
  for (const hook of EARLY) {
    for (const own of [route[hook] ?? []].flat()) {
      const reader = readers.get(own);
      if (reader !== undefined) checkReader(`rateLimit: ${route.method} ${route.url}`, hook, reader);
    }
  }
}

function checkReader(where: string, hook: RateLimitHookName, reader: string): void {
  if (!EARLY.some((early) => early === hook)) return;
  throw new RangeError(
    `${where}: ${reader} reads the body, which Fastify parses after the hook '${hook}': use the hook 'preHandler'`,
  );
}
