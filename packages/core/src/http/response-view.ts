import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { endBegun } from './end-begun.js';
import type { ResponseHeaders } from './headers/write-headers.js';
import { onOver } from './over.js';

/** What limiting needs to see of a response, whatever the framework. */
export interface ResponseView extends ResponseHeaders {
  /** Have its headers gone out, or is nobody there to get them? */
  readonly sent: boolean;
  readonly status: number;
  /** Calls `listener` once when the response is over: complete, or broken off. At once if it is over already. */
  whenOver(listener: (complete: boolean) => void): void;
  /** Ends a response that other code started before its request was denied. */
  endBegun(): void;
}

const NAMES = ['RateLimit-Policy', 'RateLimit', 'Retry-After'] as const;
const LOWER: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.map((name) => [name, name.toLowerCase()]),
);

/**
 * The name by which Node and Fastify look a header up. They make it for each look; one that is in lower case already they take as it is,
 * which saves half the time.
 */
const lower = (name: string): string => LOWER[name] ?? name;

/** Node's own response. */
export class NodeResponseView implements ResponseView {
  constructor(protected readonly raw: ServerResponse | Http2ServerResponse) {}

  get sent(): boolean {
    return this.raw.headersSent || this.raw.destroyed;
  }

  get status(): number {
    return this.raw.statusCode;
  }

  get(name: string): unknown {
    return this.raw.getHeader(lower(name));
  }

  set(name: string, value: string): void {
    this.raw.setHeader(name, value); // it sends the name as it is written here
  }

  whenOver(listener: (complete: boolean) => void): void {
    onOver(this.raw, listener);
  }

  endBegun(): void {
    endBegun(this.raw);
  }
}

/** What limiting needs of a Fastify reply, wherever it comes from. */
export interface ReplyLike {
  readonly raw: ServerResponse | Http2ServerResponse;
  readonly sent: boolean;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
}

/** @internal Fastify keeps headers in its reply until it sends, and they win over Node's. */
export class ReplyView extends NodeResponseView {
  constructor(private readonly reply: ReplyLike) {
    super(reply.raw);
  }

  override get sent(): boolean {
    return this.reply.sent || super.sent;
  }

  override get(name: string): unknown {
    return this.reply.getHeader(lower(name)); // it looks at Node's, too
  }

  override set(name: string, value: string): void {
    this.reply.header(lower(name), value); // it sends all names in lower case
  }
}
