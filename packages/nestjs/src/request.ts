import type { ExecutionContext } from '@nestjs/common';
import type { Decision } from '@sluice/core';
import { describe } from '@sluice/core/internal';
import {
  type NamedParts,
  NamedPartsView,
  type Proxies,
  pathOf,
  proxiesOf,
  type RouterSettings,
  routeOf,
  routerPathOf,
  writtenPathOf,
} from '@sluice/http';
import type { RateLimitGuardOptions, RequestResponse } from './options.js';

/** The other properties of an Express request that we read. */
interface ExpressRequest extends NamedParts {
  readonly baseUrl?: string;
  readonly path?: string;
  readonly route?: { readonly path: unknown };
  readonly app?: { get(setting: string): unknown };
}

/** The other properties of a Fastify request that we read. */
interface FastifyRequest extends NamedParts {
  readonly raw: object;
  readonly url: string;
  readonly server?: { readonly initialConfig?: RouterSettings; readonly version?: string };
  readonly routeOptions?: { readonly url?: string };
  readonly ips?: readonly string[] | undefined;
}

export type NestRequest = ExpressRequest | FastifyRequest;

/** Versions of Fastify whose `initialConfig` omits `caseSensitive`. Ignoring case is the safe answer: no spelling has its own count. */
const HIDES_CASE = /^5\.[56]\./;

/** The request of either platform. Their properties tell them apart, because guards do not know the application. */
export class NestRequestView extends NamedPartsView<NestRequest> {
  get path(): string {
    return this.#read(pathOf);
  }

  get writtenPath(): string | undefined {
    return this.#read(writtenPathOf);
  }

  #read<Path>(read: (url: string, caseSensitive: boolean) => Path): Path {
    const { request } = this;
    if ('raw' in request) {
      const { initialConfig, version = '' } = request.server ?? {};
      return routerPathOf(read, request.url, initialConfig, !HIDES_CASE.test(version));
    }
    const { baseUrl = '', path = '', app } = request;
    return read(baseUrl + path, app?.get('case sensitive routing') === true);
  }

  get route(): string | undefined {
    const { request } = this;
    return 'raw' in request ? request.routeOptions?.url : routeOf(request.baseUrl ?? '', request.route?.path);
  }

  /** Fastify parses before guards run. In Express a body parser always sets the property. */
  get bodyParsed(): boolean {
    return 'raw' in this.request || 'body' in this.request;
  }

  get proxies(): Proxies | undefined {
    const { request } = this;
    // Fastify's requests have no setting, only `ips` if it trusts a proxy.
    if ('raw' in request) return request.ips === undefined ? 'none' : undefined;
    return proxiesOf(request.app?.get('trust proxy'));
  }
}

/** The request of a message. The fields of a GraphQL operation and the messages of a connection share one, and each of them counts. */
export class MessageView extends NestRequestView {
  override get source(): undefined {
    return undefined;
  }
}

/** The requests of contexts other than HTTP. */
const found = new WeakMap<ExecutionContext, RequestResponse>();

/** @returns undefined for contexts other than HTTP, unless `find` returns their request */
export function requestResponseOf(
  context: ExecutionContext,
  find: RateLimitGuardOptions['getRequestResponse'],
): RequestResponse | undefined {
  if (context.getType() === 'http') {
    const http = context.switchToHttp();
    return { req: http.getRequest(), res: http.getResponse() };
  }
  const both = find?.(context);
  if (both === undefined) return undefined;
  if (Object(both.req) !== both.req) {
    throw new TypeError(
      `getRequestResponse must return { req } or { req, res } for this '${context.getType()}', with an object as req, ` +
        `not ${describe(both.req)}. See the README of @sluice/nestjs`,
    );
  }
  found.set(context, both);
  return both;
}

/** Puts a decision on the request, as `request.rateLimit`. */
export function attachDecision([context]: [context: ExecutionContext], decision: Decision): Decision {
  (found.get(context)?.req ?? context.switchToHttp().getRequest()).rateLimit = decision;
  return decision;
}
