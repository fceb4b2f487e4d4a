import { hashStoredKey } from '@sluice/core/internal';

/**
 * Keys are counted as they are stored. Some have a scope in front, and a space: the member of a combination, or the limiter in `(other)`. A
 * stored key has no space.
 */
export function scoped(counted: string): { readonly key: string; readonly scope?: string } {
  const at = counted.lastIndexOf(' ');
  return at < 0 ? { key: counted } : { key: counted.slice(at + 1), scope: counted.slice(0, at) };
}

/** Hashes the key, and leaves the scope. */
export function hashCounted(counted: string): string {
  const start = counted.lastIndexOf(' ') + 1;
  return counted.slice(0, start) + hashStoredKey(counted.slice(start));
}
