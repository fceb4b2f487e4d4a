/**
 * A copy of the key that shares no memory with other strings. A key built by concatenation, or cut out of a longer text, would keep
 * its pieces or the whole text alive while it is stored. Storage keys are ASCII.
 */
export const detached = (key: string): string => Buffer.from(key, 'latin1').toString('latin1');
