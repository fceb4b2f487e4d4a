import type { ServerResponse } from 'node:http';
import { NodeResponseView, type ReplyLike, ReplyView, type ResponseView } from '@sluice/http';

/** The response of either platform. On Express, and in Nest's middleware on Fastify, it is Node's own. */
export function responseViewOf(response: ServerResponse | ReplyLike | undefined): ResponseView {
  if (response === undefined) return NO_RESPONSE;
  return 'raw' in response ? new ReplyView(response) : new NodeResponseView(response);
}

/** For a message without a response: headers are dropped. */
export const NO_RESPONSE: ResponseView = {
  sent: false,
  status: 200,
  get: () => undefined,
  set: () => {},
  append: () => {},
  whenOver: () => {
    throw new TypeError(
      'getRequestResponse returned no res. timeout, concurrency, skipSuccessfulRequests and skipFailedRequests need it, because they wait for the end of the response',
    );
  },
  endBegun: () => {},
};
