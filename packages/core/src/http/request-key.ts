import { KeyResolutionError } from '../errors.js';
import type { ClientIpOptions } from '../keys/client-ip.js';
import { compileClientKey } from '../keys/client-key.js';
import { compileKey } from '../keys/key-expression.js';
import { keyPart } from '../keys/key-part.js';
import { LimitType } from '../keys/limit-type.js';
import { REQUEST_FIELDS, type RequestView } from './request-view.js';

/** Gives who makes a request; nobody is `undefined` or `null`. */
export type UserOf = (request: RequestView) => unknown;

export interface RequestKeyOptions extends ClientIpOptions {
  readonly limitType: LimitType;
  /** The template of `CUSTOM`. */
  readonly key?: string | undefined;
  readonly user?: UserOf | undefined;
}

const userId = compileKey('#{user.id}');

/**
 * Compiles how requests are told apart.
 * @returns the key of a request; it throws KeyResolutionError when the request has no such value
 * @throws RangeError when a template begins with a name that requests do not have
 */
export function compileRequestKey({
  limitType,
  key,
  user,
  ...ip
}: RequestKeyOptions): (request: RequestView) => string {
  const clientKey = compileClientKey(ip);
  switch (limitType) {
    case LimitType.IP:
      return (request) => clientKey(request.ip);
    case LimitType.USER:
      return (request) => requestUser(request, user);
    case LimitType.METHOD:
      return () => 'all';
    case LimitType.CUSTOM:
      return compileTemplate(key ?? '', clientKey);
  }
}

/** The key of who makes a request: what `userOf` says, else `user.id`, else `user` when that is a plain value. */
export function requestUser(request: RequestView, userOf?: UserOf): string {
  if (userOf !== undefined) return keyPart(userOf(request), 'What the option `user` gave', 'USER');
  const { user } = request;
  if (user === undefined || user === null) {
    throw new KeyResolutionError(
      'The request has no user: let only signed-in users through to what is limited by USER, or say who makes a ' +
        'request with the option `user`: (request) => id',
      'USER',
    );
  }
  return typeof user === 'object'
    ? userId.resolve(() => user)
    : keyPart(user, 'The user of the request', 'USER');
}

function compileTemplate(
  source: string,
  clientKey: (address: string | undefined) => string,
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
  return (request) =>
    template.resolve((root) =>
      root === 'ip' ? clientKey(request.ip) : request[root as (typeof REQUEST_FIELDS)[number]],
    );
}
