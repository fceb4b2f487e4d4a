import type { ListHeaders } from './headers/decision-headers.js';
import { extended } from './headers/response-headers.js';
import { type NodeResponse, onFinished } from './on-finished.js';

// A framework's request and response, as limits see them.

/** The proxies whose `X-Forwarded-For` a framework trusts. */
export type Proxies = 'none' | 'some' | 'all';

/** The meaning of a setting such as `trust proxy`. */
export function proxiesOf(trust: unknown): Proxies {
  if (trust === true) return 'all';
  return trust === false || trust === undefined ? 'none' : 'some';
}

/** What the server's code can do in its framework if a limit lacks a part of the request. For logs. */
export interface Advice {
  /** No body parser ran before the limit: `Put a body parser in front of the limit`. */
  readonly body: string;
  /** The limit runs before the router: `Put the limit on the route itself`. */
  readonly route?: string;
}

/**
 * What limits need of a request, in any framework. In adapters these are getters that read the framework's request, so a body or a user
 * that is set later is found.
 */
export interface RequestView {
  /** The client's address as the framework reports it, with its trusted proxies. */
  readonly ip: string | undefined;
  /** The logged-in user, as the authentication put it on the request; `undefined` without one. */
  readonly user: unknown;
  readonly method: string;
  /** Normalized by `pathOf`: the full path with router prefixes, without the query. */
  readonly path: string;
  /** By `writtenPathOf`: the same path as a router reads it that keeps dot segments; undefined if there are none. */
  readonly writtenPath?: string | undefined;
  /** The route pattern with router prefixes, such as `/users/:id`; undefined while no route is known. */
  readonly route?: string | undefined;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** Did a body parser run, even without a result? Undefined if unknown. */
  readonly bodyParsed?: boolean | undefined;
  readonly headers: unknown;
  /** By name, as a cookie parser put them on the request; undefined: those of the header `Cookie`. */
  readonly cookies?: unknown;
  /** Undefined if the framework does not say. */
  readonly proxies?: Proxies | undefined;
  /** The framework's own request: the same for every view of it. Undefined if limits may count it several times. */
  readonly source?: object | undefined;
  readonly advice?: Advice;
}

/** A request whose parts have the names of a view's parts, as in most frameworks. */
export interface NamedParts {
  readonly ip?: string | undefined;
  readonly method: string;
  readonly params?: unknown;
  readonly query: unknown;
  readonly body?: unknown;
  readonly headers: unknown;
}

/** The view of such a request. Only the paths and the route are read differently in each framework. */
export abstract class NamedPartsView<R extends NamedParts> implements RequestView {
  // `declare`, here and below: a field definition would cost a call for each request.
  declare protected readonly request: R;

  constructor(request: R) {
    this.request = request;
  }

  abstract get path(): string;
  abstract get writtenPath(): string | undefined;
  abstract get route(): string | undefined;
  get source(): object | undefined {
    return this.request;
  }
  get ip(): string | undefined {
    return this.request.ip;
  }
  get user(): unknown {
    return (this.request as { user?: unknown }).user;
  }
  get method(): string {
    return this.request.method;
  }
  get params(): unknown {
    return this.request.params;
  }
  get query(): unknown {
    return this.request.query;
  }
  get body(): unknown {
    return this.request.body;
  }
  get headers(): unknown {
    return this.request.headers;
  }
  get cookies(): unknown {
    return (this.request as { cookies?: unknown }).cookies;
  }
}

/** What limits need of a response, in any framework. */
export interface ResponseView extends ListHeaders {
  /** Are its headers sent, or is the client disconnected? */
  readonly sent: boolean;
  readonly status: number;
  /** Calls `listener` once when the response is over: complete, or broken off. At once if it is over already. */
  whenOver(listener: (complete: boolean) => void): void;
  /** Ends a response that other code started before its request was denied. */
  endBegun(): void;
}

/** Node looks headers up in lower case; a name that is in lower case already saves half the time. */
const LOWER_CASE: Readonly<Record<string, string>> = {
  'RateLimit-Policy': 'ratelimit-policy',
  RateLimit: 'ratelimit',
  'Retry-After': 'retry-after',
};

/** Node's own response. */
export class NodeResponseView implements ResponseView {
  declare protected readonly raw: NodeResponse;

  constructor(raw: NodeResponse) {
    this.raw = raw;
  }

  get sent(): boolean {
    const { raw } = this;
    // A response of HTTP/2 does not say that its client disconnected, only its stream does.
    return raw.headersSent || ('stream' in raw ? raw.stream : raw).destroyed;
  }
  get status(): number {
    return this.raw.statusCode;
  }
  get(name: string): unknown {
    return this.raw.getHeader(LOWER_CASE[name] ?? name);
  }
  set(name: string, value: string): void {
    this.raw.setHeader(name, value); // Node sends the name as it is written here
  }
  append(name: string, items: string): void {
    const before = this.raw.getHeader(LOWER_CASE[name] ?? name);
    this.raw.setHeader(name, before === undefined ? items : extended(before, items));
  }
  whenOver(listener: (complete: boolean) => void): void {
    onFinished(this.raw, listener);
  }

  /**
   * A response that has sent its headers cannot become a 429, and no other code ends it. If it announced a length that it can no longer
   * reach, the connection ends, too: its client would wait for the rest.
   */
  endBegun(): void {
    const { raw } = this;
    if (!raw.headersSent || raw.writableEnded || raw.destroyed) return;
    const broken = 'chunkedEncoding' in raw && !raw.chunkedEncoding && raw.shouldKeepAlive;
    const { socket } = raw;
    // A later `write` fails, and its callback reports that. Without this listener the error would end the process.
    raw.on('error', () => {});
    raw.end(() => {
      if (broken) socket?.destroySoon();
    });
  }
}

/** A framework's reply that keeps headers of its own until it sends them. */
export interface ReplyLike {
  readonly raw: NodeResponse;
  readonly sent: boolean;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
}

/** The headers of such a reply, which win over Node's. */
export class ReplyView extends NodeResponseView {
  declare private readonly reply: ReplyLike;

  constructor(reply: ReplyLike) {
    super(reply.raw);
    this.reply = reply;
  }

  override get sent(): boolean {
    return this.reply.sent || super.sent;
  }
  override get(name: string): unknown {
    return this.reply.getHeader(LOWER_CASE[name] ?? name); // includes Node's
  }
  override set(name: string, value: string): void {
    this.reply.header(LOWER_CASE[name] ?? name, value);
  }
  override append(name: string, items: string): void {
    const before = this.get(name);
    this.set(name, before === undefined ? items : extended(before, items));
  }
}
