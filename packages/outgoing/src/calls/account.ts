import { createHmac } from 'node:crypto';
import { RecentMap } from '@sluice/core/internal';
import type { OutgoingRequest } from './outgoing-request.js';

/** Headers that say whose calls they are. */
const CREDENTIALS = ['authorization', 'x-api-key', 'api-key', 'x-shopify-access-token'];
/** Credentials whose hash is remembered. */
const MOST = 1000;
/** Characters of the hash: enough to tell accounts apart, too few to find the credentials. */
const LENGTH = 16;

/** Names the account of a call by a keyed hash of its credentials: alike in all processes, and the store never sees them. '' without any. */
export function accountOf(upstream: string): (request: OutgoingRequest) => string {
  const known = new RecentMap<string, string>(MOST, () => false);
  return ({ headers }) => {
    for (const name of CREDENTIALS) {
      const credentials = headers.get(name);
      if (credentials === null || credentials === '') continue;
      let account = known.get(credentials);
      if (account === undefined) {
        account = createHmac('sha256', `sluice:${upstream}`)
          .update(credentials)
          .digest('hex')
          .slice(0, LENGTH);
        known.set(credentials, account);
      }
      return account;
    }
    return '';
  };
}
