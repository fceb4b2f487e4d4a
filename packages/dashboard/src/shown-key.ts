import { decodeKey } from '@sluice/core/operations';
import type { ShownKey } from './messages.js';

/** A key as it is stored, or its hash, for people. */
export function shownKey(stored: string): ShownKey {
  const key = decodeKey(stored);
  return key === undefined ? { text: stored, known: false } : { text: key, known: true };
}
