import type { ServerResponse } from 'node:http';
import { NodeResponseView, type ResponseView } from '@sluice/core';

/** What we use of a Fastify reply. */
interface Reply {
  readonly raw: ServerResponse;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
}

/** The response of either platform. Express's is Node's own; so is what Nest gives to middleware on Fastify. */
export function responseViewOf(response: ServerResponse | Reply): ResponseView {
  return 'raw' in response ? new ReplyView(response) : new NodeResponseView(response);
}

/** Fastify keeps headers of its own until it sends, and they win over Node's. */
class ReplyView extends NodeResponseView {
  constructor(private readonly reply: Reply) {
    super(reply.raw);
  }

  override get(name: string): unknown {
    return this.reply.getHeader(name) ?? super.get(name);
  }

  override set(name: string, value: string): void {
    this.reply.header(name, value);
  }
}
