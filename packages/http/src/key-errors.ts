import { isKeyResolutionError, KeyResolutionError } from '@sluice/core';
import { warnOnce } from '@sluice/core/internal';
import type { RequestView } from './views.js';

/**
 * The error when the server's own code or setup provides no key. Its message reveals nothing to clients. Its cause, for the log,
 * says what is wrong and how to fix it.
 */
export const serverKeyError = (expression: string, cause: unknown): KeyResolutionError =>
  new KeyResolutionError('The server has no rate limit key for this request', expression, 500, { cause });

/** The error for an unusable address. No address at all is a setup error of the server; a malformed one came from the client. */
export const addressError = (address: string | undefined, cause: unknown): KeyResolutionError =>
  address === undefined || address === ''
    ? serverKeyError('IP', cause)
    : new KeyResolutionError('The client address is not valid', 'IP', 400, { cause });

/**
 * Decides whose error it is that a key template failed for this request. A missing value is the client's error. A body that was not
 * parsed, an unknown route parameter or a missing user is the server's. Other errors stay as they are.
 */
export function keyErrorOfRequest(error: unknown, request: RequestView): unknown {
  if (!isKeyResolutionError(error) || error.expression === undefined || error.cause !== undefined)
    return error;
  const { expression } = error;
  const name = expression.replace(/^#[{<]|[}>]$/g, ''); // `body.email` of `#{body.email}`
  const [root] = /^[\w$]*/.exec(name)!;
  if (root === 'query' || root === 'headers' || root === 'cookies' || (root === 'body' && hasBody(request))) {
    const message = `The request needs a value at ${name}: text, a number or a boolean`;
    return new KeyResolutionError(message, expression, 400, { cause: error });
  }
  const remedy = root === 'body' ? noParser(request) : root === 'route' ? noRoute(request) : undefined;
  if (remedy === undefined) return serverKeyError(expression, error);
  return serverKeyError(expression, new TypeError(`${error.message}. ${remedy}`, { cause: error }));
}

const noParser = ({ advice }: RequestView): string =>
  `The request has no body because no body parser ran before the limit. ${advice?.body ?? 'Put a body parser in front of the limit'}`;

const noRoute = ({ advice }: RequestView): string =>
  `The route is not known at this point. ${advice?.route ?? 'Put the limit on the route itself'}, or use #{path}`;

/** Was the body parsed? If the framework does not say: a body that was sent but is missing was not. */
const hasBody = (request: RequestView): boolean =>
  request.body !== undefined || (request.bodyParsed ?? !sentBody(request));

function sentBody({ headers }: RequestView): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = Object(headers);
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/**
 * The body for templates that have a default. Without this check a limit in front of the parser would always use the default.
 * @throws KeyResolutionError of status 500 if the client sent a body that was not parsed
 */
export function parsedBody(request: RequestView): unknown {
  if (request.body === undefined && request.bodyParsed !== true && sentBody(request))
    throw serverKeyError('body', new TypeError(noParser(request)));
  return request.body;
}

/** The cause of a `serverKeyError` as text, because a log may show messages only. */
const causeOf = (error: unknown): string =>
  isKeyResolutionError(error) && error.cause !== undefined ? ` (${error.cause})` : '';

/** Warns once per limiter that a dry run, or a shadow rule, could not decide. */
export const warnOfDryRun = (limiterName: string, error: unknown): void =>
  warnOnce(
    'SLUICE_DRY_RUN_FAILED',
    limiterName,
    `The dry run of limit '${limiterName}' could not decide a request and let it pass: ${error}${causeOf(error)}`,
  );

/** Warns once per limit about a fault of the server that keeps requests from being counted. */
export function warnOfServerKey(where: string, limiterName: string, error: unknown): void {
  if (!isKeyResolutionError(error) || error.status !== 500) return;
  warnOnce(
    'SLUICE_NO_KEY',
    limiterName,
    `${where}: limit '${limiterName}' answered 500 because it found no key for a request${causeOf(error)}`,
  );
}
