import { decodeKey } from '@sluice/core/internal';
import type { ShownKey } from './messages.js';

/** Converts a stored key, or its hash, for people. */
export function shownKey(stored: string): ShownKey {
  const key = decodeKey(stored);
  return key === undefined ? { text: stored, known: false } : { text: key, known: true };
}
