import type { Cost, Duration, Policy, Store } from '@sluice/core';
import {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkName,
  checkOptions,
  describe,
  toMicros,
} from '@sluice/core/internal';
import type { RetryBudgetOptions } from './budget/retry-budget.js';
import type { OutgoingRequest } from './calls/outgoing-request.js';
import type { Settle } from './fetch/fetch-through.js';
import type { RateLimitReader } from './reading/reading.js';

/** How calls are repeated. */
export interface RetryOptions {
  /** How often a call is sent at most. Default: 3. */
  readonly attempts?: number;
  /**
   * Statuses after which it is sent again, if it may be. Default: 429, 502, 503, 504, 529. A status that only a reader knows as a refusal,
   * such as GitHub's 403, need not be listed.
   */
  readonly statuses?: readonly number[];
  /** What retries cost, and what all processes may use together. */
  readonly budget?: RetryBudgetOptions;
}

/** The options of `upstream`. */
export interface UpstreamOptions {
  /** The name in keys, errors and metrics. Letters, digits and `. _ - : / @ #`. */
  readonly name: string;
  /** Scheme and host of the service: `https://api.github.com`. Calls elsewhere are refused. */
  readonly origin: string;
  /** Where pauses and budgets live, for all processes that use it. Default: the memory of this upstream. A store that you pass is yours to close. */
  readonly store?: Store | undefined;
  /**
   * The account of a call: pauses and budgets belong to it. Default: 16 characters of a keyed hash of its credentials (`Authorization`,
   * `x-api-key`, `api-key`), '' without any.
   */
  readonly account?: ((request: OutgoingRequest) => string) | undefined;
  /**
   * The route of a call, which an endpoint's pause concerns; part of storage keys and of errors. Default: its path, with `*` in place of parts
   * that look like ids. Pass it if a path carries a secret.
   */
  readonly route?: ((request: OutgoingRequest) => string) | undefined;
  /** The budgets that a call draws on, by the names that readers use. Default: those of the service, and the names of `limits`. */
  readonly dimensions?: ((request: OutgoingRequest) => readonly string[]) | undefined;
  /** What an account may use, known in advance: `{ requests: tokenBucket({ … }) }`. Calls wait for it. Default: by the origin, else none. */
  readonly limits?: Readonly<Record<string, Policy>> | undefined;
  /** The most calls of an account at once, until their responses are over. Default: by the origin, else no limit. */
  readonly concurrency?: number | undefined;
  /** What a call takes of each of the `limits`: `{ tokens: 1200 }`. Default: 1 of each. */
  readonly cost?: ((request: OutgoingRequest) => Cost) | undefined;
  /** What a call has taken in truth, by a copy of its response: `{ tokens: 873 }`. Undefined: as much as was estimated. */
  readonly settle?: Settle | undefined;
  /** Waiting calls of this process with a higher number go first. Default: 0. */
  readonly priority?: ((request: OutgoingRequest) => number) | undefined;
  /** The readers of responses, in order: the first that knows a response decides. Default: by the origin, then the standard headers. */
  readonly reads?: readonly RateLimitReader[] | undefined;
  /** How long a call may wait before it is sent, with all its retries and redirects; default `'30s'`. A pause that is longer rejects at once. */
  readonly timeout?: Duration | undefined;
  /** No pause is longer, whatever a response says; default `'15m'`. */
  readonly maxPause?: Duration | undefined;
  /**
   * Sends equal GETs of this process once while they are in flight, for one permit: each caller gets a copy of the response. Only calls with
   * no other option than `headers`, which must be the same, and outside of `withCost`. Default: false.
   */
  readonly dedupe?: boolean | undefined;
  /** How calls are repeated; `false`: they are not. */
  readonly retry?: RetryOptions | false | undefined;
  /** Sends the requests. Default: the runtime's. */
  readonly fetch?: typeof fetch | undefined;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string | undefined;
  /** How long the answer of a remote store may take; default `'100ms'`. */
  readonly deadline?: Duration | undefined;
}

const OPTIONS = [
  'name',
  'origin',
  'store',
  'account',
  'route',
  'dimensions',
  'limits',
  'concurrency',
  'cost',
  'settle',
  'priority',
  'reads',
  'timeout',
  'maxPause',
  'dedupe',
  'retry',
  'fetch',
  'keyPrefix',
  'deadline',
] as const satisfies readonly (keyof UpstreamOptions)[];

const FUNCTIONS = ['account', 'route', 'dimensions', 'cost', 'settle', 'priority', 'fetch'] as const;
const BUDGET = { tokens: 500, retry: 5, timeout: 10, success: 1 };
const STATUSES: readonly number[] = [429, 502, 503, 504, 529];

/** Checked values that have defaults. */
export interface CheckedUpstreamOptions {
  /** As `URL` writes it. */
  readonly origin: URL;
  /** ms */
  readonly timeout: number;
  readonly maxPause: number;
  readonly deadline: number | undefined;
  readonly retry:
    | { readonly attempts: number; readonly statuses: readonly number[]; readonly budget: typeof BUDGET }
    | undefined;
}

/** @throws TypeError, RangeError naming the invalid option */
export function checkUpstreamOptions(options: UpstreamOptions): CheckedUpstreamOptions {
  checkOptions('upstream', options, OPTIONS, {
    baseUrl: 'pass origin: scheme and host',
    url: 'pass origin: scheme and host',
    retries: 'pass retry: { attempts }',
    maxConcurrent: 'pass concurrency',
    headers: 'pass them with each call',
  });
  const { name, concurrency, reads, limits, dedupe } = options;
  checkName('upstream: name', name);
  for (const option of FUNCTIONS) checkFunction(`upstream: ${option}`, options[option]);
  if (concurrency !== undefined) checkInteger('upstream: concurrency', concurrency, 1, 10_000);
  if (reads !== undefined && !(Array.isArray(reads) && reads.every((one) => typeof one === 'function')))
    throw new TypeError(
      `upstream: reads must be a list of readers, such as [stripeHeaders], not ${describe(reads)}`,
    );
  checkBoolean('upstream: dedupe', dedupe);
  if (limits !== undefined && (typeof limits !== 'object' || limits === null || Array.isArray(limits)))
    throw new TypeError(
      `upstream: limits must be policies by their names, such as { requests: tokenBucket({ … }) }, not ${describe(limits)}`,
    );
  if (limits !== undefined && Object.hasOwn(limits, 'concurrency'))
    throw new TypeError('upstream: a limit cannot be called concurrency: pass the option concurrency');
  return {
    origin: originOf(options.origin),
    timeout: toMicros('upstream: timeout', options.timeout ?? '30s', 0) / 1000,
    maxPause: toMicros('upstream: maxPause', options.maxPause ?? '15m', 1000) / 1000,
    deadline:
      options.deadline === undefined ? undefined : toMicros('upstream: deadline', options.deadline) / 1000,
    retry: checkRetry(options.retry),
  };
}

/** @throws TypeError unless it is a number: other values have no order */
export function checkPriority(priority: unknown): number {
  if (typeof priority === 'number' && !Number.isNaN(priority)) return priority;
  throw new TypeError(`upstream: priority must return a number, not ${describe(priority)}`);
}

function originOf(given: unknown): URL {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const isOrigin =
    url !== undefined && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (!isOrigin || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `upstream: origin must be scheme and host, such as 'https://api.github.com', without a path, not ${describe(given)}`,
    );
  }
  return url;
}

function checkRetry(retry: UpstreamOptions['retry']): CheckedUpstreamOptions['retry'] {
  if (retry === false) return undefined;
  const { attempts = 3, statuses = STATUSES, budget = {} } = retry ?? {};
  if (retry !== undefined) checkOptions('upstream: retry', retry, ['attempts', 'statuses', 'budget']);
  checkOptions('upstream: retry.budget', budget, Object.keys(BUDGET));
  checkInteger('upstream: retry.attempts', attempts, 1, 20);
  if (!Array.isArray(statuses))
    throw new TypeError(`upstream: retry.statuses must be a list of statuses, not ${describe(statuses)}`);
  for (const status of statuses) checkInteger('upstream: a status of retry.statuses', status, 400, 599);
  const checked = { ...BUDGET, ...budget };
  checkInteger('upstream: retry.budget.tokens', checked.tokens, 1);
  checkInteger('upstream: retry.budget.retry', checked.retry, 1, checked.tokens);
  checkInteger('upstream: retry.budget.timeout', checked.timeout, 1, checked.tokens);
  checkInteger('upstream: retry.budget.success', checked.success, 0, checked.tokens);
  return { attempts, statuses: [...statuses], budget: checked };
}
