import { KeyResolutionError } from '@sluice/core';
import { keyPart } from '@sluice/core/internal';
import type { CallExtra } from './tool-limits-options.js';

/** A transport without HTTP serves one client. */
const LOCAL = 'local';

/** Did the call arrive over HTTP? There each session has a server of its own. */
export const isOverHttp = ({ requestInfo, sessionId }: CallExtra): boolean =>
  requestInfo !== undefined || sessionId !== undefined;

/**
 * The subject of the access token, which a client cannot choose. A session is no credential, because a client can open new ones.
 * @throws KeyResolutionError if there is no token, or its subject is no text
 */
export function credentialOf(extra: CallExtra): string {
  const { authInfo } = extra;
  if (authInfo !== undefined) {
    const subject = authInfo.extra?.sub;
    if (subject !== undefined) return `sub:${keyPart(subject, 'authInfo.extra.sub')}`;
    return `client:${keyPart(authInfo.clientId, 'authInfo.clientId')}`;
  }
  if (!isOverHttp(extra)) return LOCAL;
  throw new KeyResolutionError(
    'a tool was called over HTTP without authInfo: let requireBearerAuth check tokens, or pass toolLimits({ credential })',
    'authInfo',
    500,
  );
}
