import fc from 'fast-check';
import { heapUsed } from '../../../../tests/support/heap-used.js';
import { runs } from '../../../../tests/support/runs.js';
import { decodeKey, detach, encodeKey, encodeKeyView, encodePart, separates } from './redis-key.js';

const safe = /^[A-Za-z0-9._~@+=,/:%-]{1,128}$/;
const MEGABYTE = 1 << 20;

/** Any UTF-16 with lone surrogates, biased to characters that an encoder confuses. */
const anyString = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'%~:{}\0\ufffd\ud800😀\udc00', '%25', '%uD800', '%uFFFD', '%s'),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.string({ maxLength: 40 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('encodeKey', () => {
  it.each([
    ['', '%empty'],
    ['%empty', '%25empty'],
    ['user-1@example.com', 'user-1@example.com'],
    ['2001:db8::/64', '2001:db8::/64'],
    ['{a}:b', '%7Ba%7D:b'],
    ['%7B', '%257B'],
    ['a b\n\0\x7f', 'a%20b%0A%00%7F'],
    ['*?[x]', '%2A%3F%5Bx%5D'],
    ['é', '%C3%A9'],
    ['用户', '%E7%94%A8%E6%88%B7'],
    ['😀', '%F0%9F%98%80'],
    ['\ufffd', '%EF%BF%BD'],
    ['\ud800', '%uD800'],
    ['\udfff\ud800', '%uDFFF%uD800'],
    ['%uD800', '%25uD800'],
    ['__proto__', '__proto__'],
    ['a'.repeat(128), 'a'.repeat(128)],
    [`${'a'.repeat(125)} `, `${'a'.repeat(125)}%20`],
  ])('%p becomes %p', (key, encoded) => {
    expect(encodeKey(key)).toBe(encoded);
  });

  it.each(['a'.repeat(129), `${'a'.repeat(126)} `, '用'.repeat(15), '\0'.repeat(MEGABYTE), '%'.repeat(200)])(
    'hashes a key whose encoding would exceed 128 bytes',
    (key) => {
      expect(encodeKey(key)).toMatch(/^%sha256-[A-Za-z0-9_-]{43}$/);
    },
  );

  it('long keys stay distinct: lone surrogates, U+FFFD, the written escape, a last character after 1 MB', () => {
    const pad = 'x'.repeat(200);
    const long = 'y'.repeat(MEGABYTE);
    const keys = ['\ud800', '\ud801', '\udc00', '\ufffd', '%uD800', '%EF%BF%BD'].map((end) => pad + end);
    keys.push(`${long}a`, `${long}b`, long);
    const encoded = keys.map(encodeKey);
    expect(new Set(encoded).size).toBe(keys.length);
    expect(new Set(encoded.map(encodeKey)).size).toBe(keys.length);
  });

  it('a key that looks like a hash does not collide with the hashed key', () => {
    const hash = encodeKey('x'.repeat(200));
    expect(encodeKey(hash)).not.toBe(hash);
  });

  it('every encoded key is safe and can be decoded, unless it is a hash', () => {
    fc.assert(
      fc.property(anyString, (key) => {
        const encoded = encodeKey(key);
        expect(encodeKeyView(key)).toBe(encoded);
        expect(encoded).toMatch(safe);
        expect(decodeKey(encoded)).toBe(encoded.startsWith('%sha256-') ? undefined : key);
      }),
      runs(3_000),
    );
  });

  it.each(['%', '%zz', '%FF', '%61', 'a b', '%uD83D%uDE00', 'x'.repeat(129)])(
    'decodeKey returns undefined for %p, which encodeKey never returns',
    (text) => {
      expect(decodeKey(text)).toBeUndefined();
    },
  );

  it('different keys have different encodings, also as bytes', () => {
    fc.assert(
      fc.property(anyString, anyString, fc.nat(200), (a, b, padding) => {
        const [x, y] = [a, b].map((key) => Buffer.from(encodeKey('p'.repeat(padding) + key)).toString('hex'));
        expect(x === y).toBe(a === b);
      }),
      runs(3_000),
    );
  });
});

describe('encodePart', () => {
  it.each([
    ['a.b@c', 'a.b@c'],
    ['a:b', 'a~3Ab'],
    ['~3A', '~7E3A'],
    ['/|;# ', '~2F~7C~3B~23~20'],
    ['用户{}%', '用户{}%'],
  ])('%p becomes %p', (value, encoded) => {
    expect(encodePart(value)).toBe(encoded);
  });

  it('is reversible and leaves no separator', () => {
    fc.assert(
      fc.property(anyString, (value) => {
        const encoded = encodePart(value);
        expect(separates(encoded)).toBe(false);
        const back = encoded.replace(/~([0-9A-F]{2})/g, (_, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        );
        expect(back).toBe(value);
      }),
    );
  });
});

describe('memory', () => {
  it.each([
    ['encodeKey', encodeKey],
    ['detach', detach],
  ])('%s does not keep the 16 kB string alive that it was sliced from', (_name, copy) => {
    const count = 1_000;
    const kept: string[] = [];
    const before = heapUsed();
    for (let i = 0; i < count; i++) {
      const header = Buffer.alloc(16_384, `user-${i}-of-many.`).toString('latin1');
      kept.push(copy(header.slice(3, 40)));
    }
    const perKey = (heapUsed() - before) / count;
    expect(kept).toHaveLength(count);
    expect(perKey).toBeLessThan(2_000);
  });
});
