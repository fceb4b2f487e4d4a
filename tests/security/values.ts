import fc from 'fast-check';
import { anyText } from '../support/any-text.js';

/** Texts that are hard for encoders, delimiters, hash tags and UTF-8. */
const TRICKY = [
  ...'{}:|/~%# ;-_.\0\n',
  '\ufffd',
  '\ud800',
  '\udbff',
  '\udc00',
  '😀',
  '%7B',
  '%uD800',
  '~3A',
  '%empty',
  '__proto__',
  'a',
  'é',
  'e\u0301',
  'x'.repeat(130),
];

/** A non-empty text, often one that is easily confused with another. */
export const anyValue = fc
  .oneof(
    { weight: 4, arbitrary: fc.array(fc.constantFrom(...TRICKY), { minLength: 1, maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc.array(anyText({ minLength: 1 }), { minLength: 1, maxLength: 2 }),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 3 })
        .map((units) => units.map((unit) => String.fromCharCode(unit))),
    },
  )
  .map((parts) => parts.join(''));

/** A text that differs for different values, also for lone surrogates. */
export const identity = (values: readonly unknown[]): string => JSON.stringify(values);
