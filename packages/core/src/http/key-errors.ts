import { isKeyResolutionError, KeyResolutionError } from '../errors.js';
import { warnOnce } from '../warnings.js';
import type { RequestView } from './request-view.js';

/**
 * The error when the server's own code or setup gives no key. Clients see a message that tells nothing; the cause, for the
 * log, says what is wrong and what to do.
 */
export const serverKeyError = (expression: string, cause: unknown): KeyResolutionError =>
  new KeyResolutionError('The server could not tell for whom this request counts', expression, 500, {
    cause,
  });

/** The error when a client did not send what a key needs. The message names the field; the cause has the template. */
const clientKeyError = (expression: string, cause: unknown): KeyResolutionError =>
  new KeyResolutionError(
    `The request needs a value at ${nameOf(expression)}: text, a number or a boolean`,
    expression,
    400,
    { cause },
  );

/** The error for an address that is none: a framework that has none is set up wrongly, a strange one was written by somebody. */
export const addressError = (address: string | undefined, cause: unknown): KeyResolutionError =>
  address === undefined || address === ''
    ? serverKeyError('IP', cause)
    : new KeyResolutionError('The client has no address that can be read', 'IP', 400, { cause });

/**
 * Says who has to mend a key template's failure for this request: the client that left a value out, or the server where a body
 * was not parsed, a route has no such parameter, or nobody is logged in. Other errors stay as they are.
 */
export function keyErrorOfRequest(error: unknown, request: RequestView): unknown {
  if (!isKeyResolutionError(error) || error.expression === undefined || error.cause !== undefined)
    return error;
  const { expression } = error;
  switch (/^[\w$]*/.exec(nameOf(expression))?.[0]) {
    case 'query':
    case 'headers':
      return clientKeyError(expression, error);
    case 'body':
      return request.body === undefined && !bodyWasParsed(request)
        ? serverKeyError(expression, new TypeError(`${error.message}. ${NO_PARSER}`, { cause: error }))
        : clientKeyError(expression, error);
    case 'route':
      return serverKeyError(expression, new TypeError(`${error.message}. ${NO_ROUTE}`, { cause: error }));
    default:
      return serverKeyError(expression, error);
  }
}

const NO_PARSER =
  'The request has no body because no body parser ran before the limit: put one in front of it, such as express.json() or ' +
  "koa-bodyparser; in Fastify use hook: 'preValidation' or 'preHandler'; give fetch limits the body in info";

const NO_ROUTE =
  'The route is not known where the limit stands: give the limit to the route itself (app.get(path, limit, …)) or use #{path}; ' +
  'give fetch limits the route in info';

/** Where the framework does not tell: a body that was sent and is not there was not parsed. */
function bodyWasParsed({ bodyParsed, headers }: RequestView): boolean {
  if (bodyParsed !== undefined) return bodyParsed;
  const { 'content-length': length, 'transfer-encoding': encoding } = Object(headers);
  return encoding === undefined && (length === undefined || length === '0');
}

/** `body.email` of `#{body.email}`. */
const nameOf = (expression: string): string => expression.replace(/^#[{<]|[}>]$/g, '');

/** The cause of a `serverKeyError`, for a log, which may show messages only. */
export const causeOf = (error: unknown): string =>
  isKeyResolutionError(error) && error.cause !== undefined ? ` (${error.cause})` : '';

/** Tells, once for each limit, what of the server's own keeps requests from being counted. */
export function warnOfServerKey(where: string, limiterName: string, error: unknown): void {
  if (!isKeyResolutionError(error) || error.status !== 500) return;
  warnOnce(
    'SLUICE_NO_KEY',
    limiterName,
    `${where}: limit '${limiterName}' answered 500 because it found no key for a request${causeOf(error)}`,
  );
}
