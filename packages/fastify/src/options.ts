import type { Decision, Duration } from '@sluice/core';
import {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkOneOf,
  checkOptions,
  noEffect,
  onlyOne,
} from '@sluice/core/internal';
import {
  CHOICE_OPTIONS,
  REQUEST_LIMIT_OPTIONS,
  type RequestLimitOptions,
  readFixedWindow,
} from '@sluice/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The arguments of functions in options. */
export type Args = [request: FastifyRequest];

/** What `errorResponseBuilder` gets for a denial. */
export interface ErrorResponseContext {
  /** 429, or 403 for a ban. */
  readonly statusCode: number;
  readonly ban: boolean;
  readonly max: number;
  /** Milliseconds until the request can pass. */
  readonly ttl: number;
  /** The same as text: `'1 minute'`. */
  readonly after: string;
}

/** Options with the names of `@fastify/rate-limit`. */
export interface FastifyRateLimitNames {
  /** Requests in a window of `timeWindow`, or a function that returns it: `policy: fixedWindow({ limit: max, window: timeWindow })`. */
  readonly max?: number | ((request: FastifyRequest, key: string) => number | Promise<number>) | undefined;
  /** The window of `max`, or a function that returns it: milliseconds, or a text such as `'1m'` or `'1 minute'`; default one minute. */
  readonly timeWindow?:
    | Duration
    | ((request: FastifyRequest, key: string) => Duration | Promise<Duration>)
    | undefined;
  /** The same as `name`: routes of one group in one store share a count. */
  readonly groupId?: string | undefined;
  /** Called for each counted request that passes. */
  readonly onExceeding?: ((request: FastifyRequest, key: string) => unknown) | undefined;
  /** Called for each denied request. */
  readonly onExceeded?: ((request: FastifyRequest, key: string) => unknown) | undefined;
  /**
   * The denials of a key that get a 429; further ones get a 403. Denials are counted in a window as long as the limit's, which begins with
   * the first denial. Default: no bans.
   */
  readonly ban?: number | undefined;
  /** Called for each request that gets a 403 because of `ban`. */
  readonly onBanReach?: ((request: FastifyRequest, key: string) => unknown) | undefined;
  /** Returns the error or object to throw for a denied request. */
  readonly errorResponseBuilder?:
    | ((request: FastifyRequest, context: ErrorResponseContext) => object)
    | undefined;
}

/** The options of every adapter's `rateLimit`, and the names of `@fastify/rate-limit`; functions get `(request)`. */
export interface RateLimitOptions
  extends Omit<RequestLimitOptions<Args>, 'requestWasSuccessful'>,
    FastifyRateLimitNames {
  /**
   * Answers a denied request with `reply`, or with its return value. Headers and status are already set. If it does neither, the default
   * answer is sent. To answer later, return `reply` or a promise.
   */
  readonly handler?:
    | ((request: FastifyRequest, reply: FastifyReply, decision: Decision) => unknown)
    | undefined;
  /** Has a request succeeded? Called when its response is over. Default: the response is complete, with a status below 400. */
  readonly requestWasSuccessful?:
    | ((request: FastifyRequest, reply: FastifyReply) => boolean | Promise<boolean>)
    | undefined;
}

/** When a request is limited. */
export type RateLimitHookName = (typeof HOOKS)[number];

/** The limit of one route: `config: { rateLimit: { … } }`. */
export interface RouteRateLimitOptions extends RateLimitOptions {
  /** Default: the plugin's hook. A key from the body needs `'preValidation'` or `'preHandler'`. */
  readonly hook?: RateLimitHookName | undefined;
}

/** The options of the plugin: a limit for its scope, and what its routes inherit. */
export interface RateLimitPluginOptions extends RouteRateLimitOptions {
  /**
   * Limit every route of this scope that has no `config.rateLimit`, and requests without a route; default true. With false, the options are those of
   * routes with `config: { rateLimit: {} }`.
   */
  readonly global?: boolean | undefined;
}

const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;

/** Options that choose the limit. */
export const CHOICES = ['limiter', 'rules', ...CHOICE_OPTIONS, 'max', 'timeWindow'] as const;

/** Options that answer a denial. A route with one of them inherits none. */
export const ANSWERS = ['handler', 'errorResponseBuilder', 'message', 'throw'] as const;

/** Is there a limit in these options? */
export const hasLimit = (options: RateLimitOptions): boolean =>
  CHOICES.some((name) => options[name] !== undefined);

/** @throws RangeError naming an unknown hook */
export const checkHook = (hook: RateLimitHookName): RateLimitHookName =>
  checkOneOf('rateLimit: hook', hook, HOOKS);

const FUNCTIONS = ['handler', 'errorResponseBuilder', 'onExceeding', 'onExceeded', 'onBanReach'] as const;
const OWN = [...FUNCTIONS, 'max', 'timeWindow', 'groupId', 'ban'] as const;
/** Names of all options of a limit. */
export const RATE_LIMIT_OPTIONS = [...REQUEST_LIMIT_OPTIONS, ...OWN];

/** Replacements for options of `@fastify/rate-limit` that are not options here. */
export const REMEDIES = {
  redis: 'pass store: redisStore(redis), and a name',
  nameSpace: 'pass keyPrefix',
  cache: 'pass store: memoryStore({ maxKeys })',
  addHeaders: 'pass legacyHeaders and standardHeaders',
  addHeadersOnExceeding: 'pass legacyHeaders and standardHeaders',
  enableDraftSpec: "pass standardHeaders: 'draft-6'",
  skipOnError: "pass failurePolicy: 'allow' for true, 'deny' for false",
  continueExceeding: 'pass your own limiter, and call limiter.block(key, duration) in onLimited',
  exponentialBackoff:
    "pass escalate: { after: 1, within: '1m', block: ['1m', '2m', '4m'] }, with your own times",
  limit: 'pass max',
  windowMs: 'pass timeWindow',
  duration: 'pass timeWindow',
};

/** @throws RangeError, TypeError for invalid options, and for options without a limit: they would limit nobody */
export function checkPlugin({ global = true, hook = 'onRequest', ...options }: RateLimitPluginOptions): void {
  checkHook(hook);
  checkBoolean('rateLimit: global', global);
  checkOptions('rateLimit', options, [...RATE_LIMIT_OPTIONS, 'global', 'hook'], REMEDIES);
  if (global && !hasLimit(options) && Object.keys(options).length > 0) {
    throw new TypeError(
      "rateLimit needs a policy, such as fixedWindow({ limit: 100, window: '1m' }), or several policies, or limits, or a limiter, or rules; " +
        'with global: false they are the defaults of routes with their own limits',
    );
  }
}

/**
 * Splits Fastify's own options from those of all adapters.
 * @throws RangeError, TypeError naming the invalid option
 */
export function readOptions(options: RateLimitOptions) {
  checkOptions('rateLimit', options, RATE_LIMIT_OPTIONS, REMEDIES);
  for (const name of FUNCTIONS) checkFunction(`rateLimit: ${name}`, options[name]);
  const [first, second] = ANSWERS.filter((name) => options[name] !== undefined && options[name] !== false);
  if (second !== undefined && first !== 'message') {
    throw noEffect('rateLimit', second, `with ${first}, which sends the response`);
  }
  const { handler, errorResponseBuilder, onExceeding, onExceeded, onBanReach, ban, groupId, ...rest } =
    options;
  checkEvents(options);
  onlyOne('rateLimit', options, ['name', 'groupId']);
  const named = { ...rest, ...(groupId !== undefined && { name: groupId }) } as RequestLimitOptions<Args>;
  const names = { limit: ['max'], window: 'timeWindow', standard: '1m' } as const;
  return {
    answers: { handler, errorResponseBuilder, onExceeded, onBanReach, ban },
    onExceeding,
    shared: readFixedWindow<Args>('rateLimit', named, names),
  };
}

/** @throws TypeError for an option that would have no effect */
function checkEvents({
  ban,
  onBanReach,
  onExceeded,
  dryRun,
  limiter,
  rules,
  ...options
}: RateLimitOptions): void {
  const idle = (option: string, why: string) => noEffect('rateLimit', option, why);
  if (onBanReach !== undefined && ban === undefined) throw idle('onBanReach', 'without ban');
  for (const [option, value] of Object.entries({ ban, onExceeded })) {
    if (value === undefined) continue;
    if (options.throw === true) throw idle(option, 'with throw: use onLimited');
    if (dryRun === true) throw idle(option, 'with dryRun: use onLimited');
  }
  if (ban === undefined) return;
  checkInteger('rateLimit: ban', ban, 0);
  if (limiter !== undefined) throw idle('ban', 'with limiter: pass a policy instead');
  if (rules !== undefined) throw idle('ban', 'with rules: pass a policy instead');
}
