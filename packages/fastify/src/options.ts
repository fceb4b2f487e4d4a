import {
  CHOICE_OPTIONS,
  checkBoolean,
  checkHandler,
  checkOptions,
  type Decision,
  type Duration,
  REQUEST_LIMIT_OPTIONS,
  type RequestLimitOptions,
  readFixedWindow,
} from '@sluice/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What Fastify hands to functions. */
export type Args = [request: FastifyRequest];

/** The words of `@fastify/rate-limit` for what Sluice calls otherwise. */
export interface FastifyRateLimitNames {
  /** Requests in a window of `timeWindow`, or a function that gives them: `policy: fixedWindow({ limit: max, window: timeWindow })`. */
  readonly max?: (number | ((request: FastifyRequest) => number | Promise<number>)) | undefined;
  /** The window of `max`; milliseconds, or text such as `'1m'`; default one minute. */
  readonly timeWindow?: Duration | undefined;
  /** The same as `name`: routes of one group in one store share a count. */
  readonly groupId?: string | undefined;
}

/** What every adapter's `rateLimit` takes, with the words of `@fastify/rate-limit`; functions are given `(request)`. */
export interface RateLimitOptions extends RequestLimitOptions<Args>, FastifyRateLimitNames {
  /** Answers a denied request itself: with `reply`, or by what it returns. The headers and the status are set already. */
  readonly handler?:
    | ((request: FastifyRequest, reply: FastifyReply, decision: Decision) => unknown)
    | undefined;
}

/** When a request is limited. */
export type RateLimitHookName = (typeof HOOKS)[number];

/** The limit of one route: `config: { rateLimit: { … } }`. */
export interface RouteRateLimitOptions extends RateLimitOptions {
  /** Default: that of the plugin. A key made of the body needs `'preValidation'` or `'preHandler'`. */
  readonly hook?: RateLimitHookName | undefined;
}

/** The options of the plugin: a limit for its scope, and what its routes inherit. */
export interface RateLimitPluginOptions extends RouteRateLimitOptions {
  /**
   * Limit every route of this scope that has no `config.rateLimit`, and what is not found; default true. With false, the options are those of
   * routes with `config: { rateLimit: {} }`.
   */
  readonly global?: boolean | undefined;
}

const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;

/** Options that say which limit. */
export const CHOICES = ['limiter', ...CHOICE_OPTIONS, 'max', 'timeWindow'] as const;

/** Is there a limit in these options? */
export const hasLimit = (options: RateLimitOptions): boolean =>
  CHOICES.some((name) => options[name] !== undefined);

/** @throws RangeError naming a hook that there is not */
export function checkHook(hook: RateLimitHookName): void {
  if (!HOOKS.includes(hook)) {
    throw new RangeError(`rateLimit: hook must be one of ${HOOKS.join(', ')}, not ${JSON.stringify(hook)}`);
  }
}

const ALL = [...REQUEST_LIMIT_OPTIONS, 'max', 'timeWindow', 'groupId', 'handler'] as const;

/** @throws RangeError, TypeError: a plugin that was given options but no limit would limit nobody */
export function checkPlugin({ global = true, hook = 'onRequest', ...options }: RateLimitPluginOptions): void {
  checkHook(hook);
  checkBoolean('rateLimit: global', global);
  checkOptions('rateLimit', options, [...ALL, 'global', 'hook']);
  if (global && !hasLimit(options) && Object.keys(options).length > 0) {
    throw new TypeError(
      "rateLimit needs a policy, such as fixedWindow({ limit: 100, window: '1m' }), or several policies, or limits, or a limiter; " +
        'with global: false the options are those of routes that have limits of their own',
    );
  }
}

/**
 * Splits what only Fastify has from what all adapters share.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function readOptions(options: RateLimitOptions) {
  checkOptions('rateLimit', options, ALL);
  const { handler, groupId, ...rest } = options ?? {};
  checkHandler('rateLimit', handler, rest);
  if (groupId !== undefined && rest.name !== undefined) {
    throw new TypeError('rateLimit: give name or groupId, not both');
  }
  const named = { ...rest, ...(groupId !== undefined && { name: groupId }) };
  const names = { limit: ['max'], window: 'timeWindow', standard: '1m' } as const;
  return { handler, shared: readFixedWindow<Args>('rateLimit', named, names) };
}
