import {
  andThen,
  compileKey,
  type KeyScope,
  type KeyTemplate,
  keyPart,
  type MaybePromise,
} from '@sluice/core/internal';
import { cookiesOf } from './cookies.js';
import { keyErrorOfRequest, parsedBody, serverKeyError } from './key-errors.js';
import type { RequestView } from './views.js';

/** The parts of a view: the first names in key expressions such as `#{query.phone}`. */
export const REQUEST_FIELDS = [
  'ip',
  'user',
  'method',
  'path',
  'route',
  'params',
  'query',
  'body',
  'headers',
  'cookies',
] as const;

/** The value of a root name in a key expression. */
export const requestField = (request: RequestView, name: string): unknown =>
  name === 'cookies' ? cookiesOf(request) : request[name as keyof RequestView];

/** Returns the user of a request, also as a promise. `undefined` and `null` are an error of status 500. */
export type UserOf = (request: RequestView) => unknown;

const userId = compileKey('#{user.id}');

/** The key of a request's user: the result of `userOf`, otherwise `user.id`, otherwise `user` if that is a plain value. */
export function requestUser(request: RequestView, userOf?: UserOf): MaybePromise<string> {
  if (userOf !== undefined) return andThen(userOf(request), userKey);
  const { user } = request;
  if (user === undefined || user === null) throw serverKeyError('USER', new TypeError(NO_USER));
  if (typeof user !== 'object') return serverKey(user, 'The user of the request', 'USER');
  try {
    return userId.resolve(() => user);
  } catch (error) {
    throw serverKeyError('USER', error);
  }
}

/** The same; undefined for a request that nobody has signed in for. A user without an id is an error. */
export function requestUserIfAny(request: RequestView, userOf?: UserOf): MaybePromise<string | undefined> {
  if (userOf !== undefined)
    return andThen(userOf(request), (given) => (isNobody(given) ? undefined : userKey(given)));
  return isNobody(request.user) ? undefined : requestUser(request);
}

/** As authentication marks a request without a user. */
const isNobody = (user: unknown): boolean =>
  user === undefined || user === null || user === false || user === '';

const NO_USER =
  'The request has no user. Put the limit behind your authentication, and reject requests without a user before it. Or ' +
  'return the user id with the option `user`: (request) => id';

const userKey = (given: unknown): string => serverKey(given, 'The result of the option `user`', 'USER');

/** Checks a key from the server's own code. @throws KeyResolutionError of status 500 if it is invalid */
export function serverKey(value: unknown, what: string, expression: string): string {
  try {
    return keyPart(value, what, expression);
  } catch (error) {
    throw serverKeyError(expression, error);
  }
}

/**
 * Prepares a key template to read requests.
 * @param clientKey the value of `#{ip}`: an address in a template is a client too
 * @throws RangeError if the template begins with a name that requests do not have
 */
export function requestKey(template: KeyTemplate, clientKey: (request: RequestView) => string) {
  const unknown = template.roots.find((root) => !REQUEST_FIELDS.some((field) => field === root));
  if (unknown !== undefined) {
    throw new RangeError(
      `The key template ${JSON.stringify(template.source)} uses '${unknown}', which requests do not have; ` +
        `begin with one of ${REQUEST_FIELDS.join(', ')}`,
    );
  }
  const ofBody = template.roots.includes('body');
  const scopeOf =
    (request: RequestView): KeyScope =>
    (root) =>
      root === 'ip' ? clientKey(request) : requestField(request, root);
  const resolved = (scope: KeyScope, request: RequestView): string => {
    try {
      return template.resolve(scope);
    } catch (error) {
      throw keyErrorOfRequest(error, request);
    }
  };
  return {
    /** @throws KeyResolutionError without a value: status 400 if the client did not send it, 500 if the server did not provide it */
    read: (request: RequestView): string => resolved(scopeOf(request), request),
    /** The same; undefined for a request that lacks a value. */
    readIfAny: (request: RequestView): string | undefined => {
      const scope = scopeOf(request);
      if (template.isPresent(scope)) return resolved(scope, request);
      if (ofBody) parsedBody(request); // throws in front of the body parser
      return undefined;
    },
  };
}
