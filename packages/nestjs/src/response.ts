import type { ServerResponse } from 'node:http';
import { NodeResponseView, type ReplyLike, ReplyView, type ResponseView } from '@sluice/core';

/** The response of either platform. Express's is Node's own; so is what Nest gives to middleware on Fastify. */
export function responseViewOf(response: ServerResponse | ReplyLike): ResponseView {
  return 'raw' in response ? new ReplyView(response) : new NodeResponseView(response);
}
