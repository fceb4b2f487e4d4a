import type { ServerResponse } from 'node:http';
import { NodeResponseView, type ReplyLike, ReplyView, type ResponseView } from '@sluice/core';

/** The response of either platform. Express's is Node's own; so is what Nest gives to middleware on Fastify. */
export function responseViewOf(response: ServerResponse | ReplyLike | undefined): ResponseView {
  if (response === undefined) return NO_RESPONSE;
  return 'raw' in response ? new ReplyView(response) : new NodeResponseView(response);
}

/** Of a message that has none: headers have no place to go. */
const NO_RESPONSE: ResponseView = {
  sent: false,
  status: 200,
  get: () => undefined,
  set: () => {},
  whenOver: () => {
    throw new TypeError(
      'getRequestResponse gave no res: timeout, concurrency, skipSuccessfulRequests and skipFailedRequests need the response, for they last until it is over',
    );
  },
  endBegun: () => {},
};
