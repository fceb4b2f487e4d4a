import { STATUS_CODES } from 'node:http';
import { BadRequestException, HttpException, Logger, ServiceUnavailableException } from '@nestjs/common';
import {
  type Decision,
  isKeyResolutionError,
  isLimiterClosedError,
  isStoreUnavailableError,
} from '@sluice/core';
import { errorOfDenial } from '@sluice/core/internal';
import type { Reply } from '@sluice/http';

const logger = new Logger('Sluice');

/** Bodies are written out, because the built-in ones differ between versions of Nest. */
const UNAVAILABLE = { statusCode: 503, message: 'Service Unavailable' };

/** Thrown by a guard for a denied request. The headers are already on the response. */
export class RateLimitException extends HttpException {
  constructor(
    /** The same response as in every adapter of Sluice. */
    readonly reply: Reply,
    /** The denial; undefined for a request on the `denyList`. */
    readonly decision?: Decision,
  ) {
    super(bodyOf(reply), reply.status);
    // For logs, and for contexts other than HTTP.
    if (decision !== undefined) this.message = errorOfDenial(decision).message;
  }
}

/** The response for Nest's own filter and for filters of users. */
function bodyOf({ status, type, body }: Reply): string | object {
  if (type.includes('json')) return JSON.parse(body);
  return type.startsWith('text/plain') ? body : (STATUS_CODES[status] ?? String(status));
}

/**
 * Nest's exceptions for errors with a status other than 500: 400 if the request lacks its key, 503 if a store is out. The log gets the
 * store's error, the client only the status.
 */
export function httpExceptionOf(error: unknown): HttpException | undefined {
  if (isKeyResolutionError(error) && error.status === 400) {
    return new BadRequestException(
      { statusCode: 400, message: error.message, error: 'Bad Request' },
      { cause: error },
    );
  }
  if (isStoreUnavailableError(error)) {
    if (error.decision === undefined) logger.error(error); // denials of a failure policy are in the store's events
    return new ServiceUnavailableException(UNAVAILABLE, { cause: error });
  }
  if (isLimiterClosedError(error)) return new ServiceUnavailableException(UNAVAILABLE, { cause: error });
  return undefined;
}
