import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any code point: draws the same characters as `unit: 'binary'` does. fast-check fills a map of all 1.1 million characters when that unit
 * is first used, which takes seconds in each test file.
 */
const codePoint = fc.integer({ min: 0, max: 0x10_ffff - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (point === undefined || String.fromCodePoint(point) !== text || /\p{Surrogate}/u.test(text))
      throw new Error('not one character');
    return point < SURROGATES.first ? point : point - SURROGATES.count;
  },
);

/** A text of any characters, often one that names a property of every object. */
export const anyText = (lengths: { minLength?: number; maxLength?: number } = {}) =>
  fc.string({ ...lengths, unit: codePoint });
