import { type ArgumentsHost, Catch, HttpException, type Type } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import {
  isKeyResolutionError,
  isLimiterClosedError,
  isRateLimitExceededError,
  isRequestForbiddenError,
  isStoreUnavailableError,
} from '@sluice/core';
import { answerError, type Reply, writeErrorHeaders } from '@sluice/http';
import { throwError } from 'rxjs';
import { httpExceptionOf, RateLimitException } from './exceptions.js';
import { NO_RESPONSE, responseViewOf } from './response.js';

/** Nest checks by `instanceof`, which fails for errors of another copy of the package (ESM beside CJS). */
const ErrorOfLimit = {
  [Symbol.hasInstance]: (error: unknown) =>
    isRateLimitExceededError(error) ||
    isRequestForbiddenError(error) ||
    isKeyResolutionError(error) ||
    isStoreUnavailableError(error) ||
    isLimiterClosedError(error),
} as unknown as Type;

/**
 * Answers errors of decorated methods and guards as every adapter of Sluice does: 429 with `Retry-After`, `RateLimit`,
 * `RateLimit-Policy` and a problem (RFC 9457); 400 if the request lacks its key; 503 with `Retry-After` if a store is out.
 * `SluiceModule` installs it. Your own filters on methods and controllers, and those of `useGlobalFilters`, run first.
 */
export class SluiceExceptionFilter extends BaseExceptionFilter {
  override catch(exception: Error, host: ArgumentsHost): unknown {
    if (host.getType() !== 'http') return rejected(exception, host);
    if (exception instanceof RateLimitException) return this.#send(exception.reply, host);
    const http = host.switchToHttp();
    const response = responseViewOf(http.getResponse());
    const view = response.sent ? NO_RESPONSE : response;
    if (isRateLimitExceededError(exception)) {
      return this.#send(answerError(exception, http.getRequest().headers.accept, view)!, host);
    }
    writeErrorHeaders(exception, view);
    return super.catch(known(exception), host);
  }

  #send(reply: Reply, host: ArgumentsHost): void {
    const { status, type, body } = reply;
    const adapter = this.applicationRef ?? this.httpAdapterHost?.httpAdapter;
    if (adapter === undefined) {
      throw new TypeError(
        'SluiceExceptionFilter needs the adapter: new SluiceExceptionFilter(app.getHttpAdapter())',
      );
    }
    const response = host.switchToHttp().getResponse();
    const view = responseViewOf(response);
    if (view.sent) {
      adapter.end(response);
      return;
    }
    adapter.setHeader(response, 'Content-Type', type);
    adapter.reply(response, body, status);
  }
}
Catch(RateLimitException, ErrorOfLimit)(SluiceExceptionFilter);

function known(error: Error): Error {
  return isRequestForbiddenError(error)
    ? new HttpException(error.message, error.status, { cause: error })
    : (httpExceptionOf(error) ?? error);
}

/** Microservices send an observable's error to the caller; other contexts handle thrown errors themselves. */
function rejected(exception: Error, host: ArgumentsHost): unknown {
  const error = known(exception);
  if (host.getType() === 'rpc') return throwError(() => ({ status: 'error', message: error.message }));
  throw error;
}
