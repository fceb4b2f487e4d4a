import { answerError, NodeResponseView, type Reply } from '@sluice/http';
import type { ErrorRequestHandler, Response } from 'express';

/**
 * Answers Sluice's errors as `rateLimit` does: denials of decorated methods, of `acquire` and of `throw: true` (429), keys that clients did
 * not send (400), a store that is out (503). Express's own handler would send its error page and log a stack trace each time. Put
 * this after the routes; it passes other errors on.
 */
export function rateLimitErrors(): ErrorRequestHandler {
  return (error, request, response, next) => {
    const reply = response.headersSent
      ? undefined
      : answerError(error, request.get('accept'), new NodeResponseView(response));
    if (reply === undefined) next(error);
    else send(response, reply);
  };
}

/** Sends a reply as it is. */
export function send(response: Response, { status, type, body }: Reply): void {
  if (response.headersSent) return;
  // Not `send`: it would add a charset, and hash the body for an ETag that no client of a refusal needs.
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(body)); // also for HEAD, whose body Node drops
  response.end(body);
}
