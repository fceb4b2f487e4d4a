import { describe } from '@sluice/core/internal';
import { readsBody } from '@sluice/http';
import type { RateLimitHookName, RateLimitOptions } from './options.js';

// Limits that read the body are refused at a hook that has none yet: every request would get a 500.

/** The hooks that run before Fastify parses the body. */
const EARLY: readonly RateLimitHookName[] = ['onRequest', 'preParsing'];
/** What reads the body in the limits that the program puts on a route itself. */
const readers = new WeakMap<object, string>();

type BodyOptions = Pick<RateLimitOptions, 'key' | 'limits' | 'rules'>;

/** What in valid options reads the body of a request, by its name; undefined if nothing is known to. */
function bodyReader({ key, limits, rules }: BodyOptions): string | undefined {
  if (readsBody(key)) return `key ${describe(key)}`;
  const one = Object.entries(limits ?? {}).find(([, limit]) => readsBody(limit.key));
  if (one !== undefined) return `limits.${one[0]}: key ${describe(one[1].key)}`;
  const rule = rules?.bodyRules[0];
  return rule === undefined ? undefined : `rule '${rule}'`;
}

/** @throws RangeError if valid options read the body at an early hook */
export const checkBodyHook = (where: string, hook: RateLimitHookName, options: BodyOptions): void =>
  refuse(where, hook, bodyReader(options));

/** Remembers what a limit reads, for `checkHooksOf`. */
export function rememberBodyReader(limit: object, options: BodyOptions): void {
  const reader = bodyReader(options);
  if (reader !== undefined) readers.set(limit, reader);
}

/** @throws RangeError for a limit among a route's own hooks, as `checkBodyHook` does */
export function checkHooksOf(where: string, hooksOf: (hook: RateLimitHookName) => readonly object[]): void {
  for (const hook of EARLY) for (const limit of hooksOf(hook)) refuse(where, hook, readers.get(limit));
}

function refuse(where: string, hook: RateLimitHookName, reader: string | undefined): void {
  if (reader === undefined || !EARLY.includes(hook)) return;
  throw new RangeError(
    `${where}: ${reader} reads the body, which Fastify parses after the hook '${hook}': use the hook 'preHandler'`,
  );
}
