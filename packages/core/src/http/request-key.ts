import { type ClientIpOptions, compileClientKey } from '../keys/client-ip.js';
import { compileKey } from '../keys/key-expression.js';
import { keyPart } from '../keys/key-part.js';
import { LimitType } from '../keys/limit-type.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import { addressError, keyErrorOfRequest, serverKeyError } from './key-errors.js';
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
] as const;

/** Returns the user of a request, also as a promise. `undefined` and `null` are an error of status 500. */
export type UserOf = (request: RequestView) => unknown;

export interface RequestKeyOptions extends ClientIpOptions {
  readonly limitType: LimitType;
  /** The template of `CUSTOM`. */
  readonly key?: string | undefined;
  readonly user?: UserOf | undefined;
}

const userId = compileKey('#{user.id}');

/**
 * Compiles the key options of a limit.
 * @returns a function from a request to its key. It throws KeyResolutionError if there is no value: with status 400 if the client did
 *   not send it, with status 500 if the server did not provide it
 * @throws RangeError if a template begins with a name that requests do not have
 */
export function compileRequestKey({
  limitType,
  key,
  user,
  ...ip
}: RequestKeyOptions): (request: RequestView) => MaybePromise<string> {
  const clientKey = compileClientKey(ip, addressError);
  switch (limitType) {
    case LimitType.IP:
      return clientKey;
    case LimitType.USER:
      return (request) => requestUser(request, user);
    case LimitType.METHOD:
      return () => 'all';
    case LimitType.CUSTOM:
      return compileTemplate(key ?? '', clientKey);
  }
}

/** The key of a request's user: the result of `userOf`, otherwise `user.id`, otherwise `user` if that is a plain value. */
export function requestUser(request: RequestView, userOf?: UserOf): MaybePromise<string> {
  if (userOf !== undefined) {
    const given = userOf(request);
    return isPromise(given) ? given.then(userKey) : userKey(given);
  }
  const { user } = request;
  if (user === undefined || user === null) throw serverKeyError('USER', new TypeError(NO_USER));
  if (typeof user !== 'object') return serverKey(user, 'The user of the request', 'USER');
  try {
    return userId.resolve(() => user);
  } catch (error) {
    throw serverKeyError('USER', error);
  }
}

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

function compileTemplate(
  source: string,
  clientKey: (request: RequestView) => string,
): (request: RequestView) => string {
  const template = compileKey(source);
  const unknown = template.roots.find((root) => !REQUEST_FIELDS.some((field) => field === root));
  if (unknown !== undefined) {
    throw new RangeError(
      `The key template ${JSON.stringify(source)} uses '${unknown}', which requests do not have; ` +
        `begin with one of ${REQUEST_FIELDS.join(', ')}`,
    );
  }
  // An address in a template is a client too: IPv6 by subnet, one spelling.
  return (request) => {
    try {
      return template.resolve((root) =>
        root === 'ip' ? clientKey(request) : request[root as (typeof REQUEST_FIELDS)[number]],
      );
    } catch (error) {
      throw keyErrorOfRequest(error, request);
    }
  };
}
