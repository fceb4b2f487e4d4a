import { STATUS_CODES } from 'node:http';
import { BadRequestException, HttpException, Logger, ServiceUnavailableException } from '@nestjs/common';
import {
  type Decision,
  isKeyResolutionError,
  isLimiterClosedError,
  isStoreUnavailableError,
  type Reply,
} from '@sluice/core';
import { errorOfDenial } from '@sluice/core/http';

const logger = new Logger('Sluice');

/** Bodies are written out, because the built-in ones differ between versions of Nest. */
const UNAVAILABLE = { statusCode: 503, message: 'Service Unavailable' };

/** What a guard throws for a request that it turns away. Its headers are on the response already. */
export class RateLimitException extends HttpException {
  constructor(
    /** The answer as every adapter of Sluice gives it. */
    readonly reply: Reply,
    /** The decision that denied; undefined for a request that is on the `denyList`. */
    readonly decision?: Decision,
  ) {
    super(bodyOf(reply), reply.status);
    // For logs, and for contexts other than HTTP.
    if (decision !== undefined) this.message = errorOfDenial(decision).message;
  }
}

/** What Nest's own filter, and those of users, make an answer of. */
function bodyOf({ status, type, body }: Reply): string | object {
  if (type.includes('json')) return JSON.parse(body);
  return type.startsWith('text/plain') ? body : (STATUS_CODES[status] ?? String(status));
}

/**
 * The errors of limiters that have an answer other than 500, as Nest's own exceptions: a key that the request did not give
 * is 400; a store that is out is 503, of which the log is told, and the client no more than that.
 */
export function httpExceptionOf(error: unknown): HttpException | undefined {
  if (isKeyResolutionError(error) && error.status === 400) {
    return new BadRequestException(
      { statusCode: 400, message: error.message, error: 'Bad Request' },
      { cause: error },
    );
  }
  if (isStoreUnavailableError(error)) {
    if (error.decision === undefined) logger.error(error); // what a failure policy denies, the store's events tell
    return new ServiceUnavailableException(UNAVAILABLE, { cause: error });
  }
  if (isLimiterClosedError(error)) return new ServiceUnavailableException(UNAVAILABLE, { cause: error });
  return undefined;
}
