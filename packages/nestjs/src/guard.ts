import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Inject,
  Logger,
  mixin,
  Optional,
  type Type,
} from '@nestjs/common';
import { isStoreUnavailableError } from '@sluice/core';
import { writeErrorHeaders } from '@sluice/http';
import { httpExceptionOf, RateLimitException } from './exceptions.js';
import { type GuardLimit, LimitInParts, skippedBy } from './limit-in-parts.js';
import { type RateLimitGuardOptions, type RequestResponse, SLUICE_ROOT } from './options.js';
import { type Level, overrideOf } from './override-limit.js';
import { MessageView, NestRequestView, requestResponseOf } from './request.js';
import { responseViewOf } from './response.js';
import type { SluiceRoot } from './root.js';

/**
 * Makes a guard for `@UseGuards(RateLimitGuard({ … }))`, on a controller or a handler. A request over the limit gets a 429 with
 * `Retry-After` and a problem (RFC 9457) from a `RateLimitException`. Every response has `RateLimit` and `RateLimit-Policy`. A missing key is
 * answered with 400. While a store is out, its `failurePolicy` decides. With `SluiceModule`, the module's `store`, `user`, `ipv6Subnet`,
 * `keyPrefix`, `deadline`, `failurePolicy`, `denyCache` and `prefetch` are the defaults. Contexts other than HTTP need
 * `getRequestResponse`; without it they fail with a TypeError.
 * @throws RangeError, TypeError naming the invalid option
 */
export function RateLimitGuard(options: RateLimitGuardOptions): Type<CanActivate> {
  if (new.target !== undefined) {
    throw new TypeError('RateLimitGuard makes a guard: write @UseGuards(RateLimitGuard({ … }))');
  }
  const own = new LimitInParts('RateLimitGuard', options);
  class Guard implements CanActivate {
    readonly #limit: LimitInParts;

    constructor(root?: SluiceRoot) {
      this.#limit = root?.limit(options) ?? own;
    }

    canActivate(context: ExecutionContext): Promise<boolean> {
      const both = requestResponseOf(context, this.#limit.getRequestResponse);
      if (both === undefined) {
        throw new TypeError(
          `RateLimitGuard: ${context.getClass().name}.${context.getHandler().name} handles '${context.getType()}', not ` +
            "'http'. Limit it with @RateLimit or @CountLimit, or return its request with the guard's option " +
            'getRequestResponse: (context) => ({ req, res })',
        );
      }
      return admit(this.#limit.without(skippedBy(this.#inside(context))), context, both);
    }

    /** The levels below this guard. A skip on the guard's own level does not apply to it. */
    #inside(context: ExecutionContext): readonly Level[] {
      const levels = levelsOf(context);
      const own = levels.findIndex((level) =>
        guardsOf(level).some((guard) => guard === this || guard === this.constructor),
      );
      return own < 0 ? levels : levels.slice(0, own);
    }
  }
  Optional()(Guard, undefined, 0);
  Inject(SLUICE_ROOT)(Guard, undefined, 0);
  return mixin(Guard);
}

/** The guard of `forRoot({ limit })`. */
export class GlobalGuard implements CanActivate {
  readonly #root: SluiceRoot;
  readonly #passed = new Set<string>();

  constructor(root: SluiceRoot) {
    this.#root = root;
  }

  /** `limit` counts HTTP requests only, also in an application that serves other messages. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const levels = levelsOf(context);
    const at = levels.findIndex((level) => overrideOf(level) !== undefined);
    const override = at < 0 ? undefined : this.#root.override(levels[at]!, context.getClass());
    const limit = override ?? this.#root.globalLimit;
    if (limit === undefined) return true;
    const { getRequestResponse } = limit;
    const both = requestResponseOf(context, getRequestResponse);
    if (both !== undefined) {
      return admit(limit.without(skippedBy(at < 0 ? levels : levels.slice(0, at))), context, both);
    }
    const type = context.getType<string>();
    if (getRequestResponse === undefined && !this.#passed.has(type)) {
      this.#passed.add(type);
      new Logger('SluiceModule').warn(
        `limit counts HTTP requests only, so '${type}' is not limited. Use @RateLimit for it, or set getRequestResponse in limit`,
      );
    }
    return true;
  }
}

/** The handler, then its controller. */
const levelsOf = (context: ExecutionContext): readonly Level[] => [context.getHandler(), context.getClass()];

/** The guards that `@UseGuards` attached to a handler, or to a controller or its base class. */
const guardsOf = (level: Level): readonly unknown[] => Reflect.getMetadata('__guards__', level) ?? [];

/** @throws HttpException for a denied request */
async function admit(
  limit: GuardLimit | undefined,
  context: ExecutionContext,
  { req, res }: RequestResponse,
): Promise<boolean> {
  if (limit === undefined) return true;
  const request = context.getType() === 'http' ? new NestRequestView(req) : new MessageView(req);
  const response = responseViewOf(res);
  try {
    const verdict = await limit.handle(request, response, context);
    if (verdict.outcome === 'passed') return true;
    if (verdict.outcome === 'denied') throw new RateLimitException(await verdict.reply(), verdict.decision);
  } catch (error) {
    if (isStoreUnavailableError(error) && !response.sent) writeErrorHeaders(error, response);
    throw httpExceptionOf(error) ?? error;
  }
  throw new HttpException('Client Closed Request', 499); // the client is disconnected
}
