import { keyPart } from '@sluice/core/internal';

/**
 * A host's key as the key of a limiter, which is not empty: the empty key becomes `"`, and a key that begins with one gets another.
 * @throws KeyResolutionError unless it is text, a finite number, a bigint or a boolean
 */
export function hostKey(key: unknown): string {
  const text = textOf(key);
  return text === '' || text.startsWith('"') ? `"${text}` : text;
}

/** A key that counts apart in each scope of a host: a throttler, a route. A client's key cannot name another scope. @throws as above */
export const scopedKey = (scope: string, key: unknown): string =>
  `${encodeURIComponent(scope)}:${textOf(key)}`;

const textOf = (key: unknown): string => (key === '' ? '' : keyPart(key, "the host's key"));
