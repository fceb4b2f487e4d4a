import fc from 'fast-check';
import { JSONPath } from 'jsonpath-plus';
import { KeyResolutionError } from '../errors.js';
import { compileKey } from './key-expression.js';
import { readWide } from './wide-path.js';

const wide = (name: string) => ({ name, wide: true });
const plain = (name: string) => ({ name, wide: false });

describe('code in an expression never runs', () => {
  const marker = globalThis as { sluiceOwned?: boolean };
  const code = 'globalThis.sluiceOwned=true';
  it.each([
    // The payloads of CVE-2024-21534 and CVE-2025-1302 and their kin.
    `$..[?(p="${code}";a=''[['constructor']][['constructor']](p);a())]`,
    `$[(this.constructor.constructor("${code}")())]`,
    `$..[?(this.constructor.constructor("${code}")())]`,
    `a[(${code})]`,
    `a[?(${code})]`,
    `a.(${code})`,
    `a[*][?(${code})]`,
    `a[*].(${code})`,
    `a['(${code})'][*]`,
    `a[*]['(${code})']`,
    `a[*]['?(${code})']`,
    `a[*]["?(@.constructor.constructor('${code}')())"]`,
    'a[*]^',
    'a[*]~',
    'a[*]`b',
    'a[*]@function()',
    'a[*].@other()',
    'a(1)',
    'a`1`',
  ])('%s', (expression) => {
    const run = (): string => compileKey(`#{${expression}}`).resolve(() => [{ b: 1 }, { b: 2 }]);
    expect(run).toThrow();
    try {
      run();
    } catch (error) {
      expect(error instanceof RangeError || error instanceof KeyResolutionError).toBe(true);
    }
    expect(marker.sluiceOwned).toBeUndefined();
  });

  it('nor when it is in the data', () => {
    const data = { [`?(${code})`]: 1, [`(${code})`]: 2, list: [`@.constructor.constructor("${code}")()`] };
    expect(compileKey('#{data.list[*]}').resolve(() => data)).toContain('constructor');
    expect(() => compileKey('#{data[*]}').resolve(() => data)).toThrow(KeyResolutionError);
    expect(marker.sluiceOwned).toBeUndefined();
  });
});

/** What jsonpath-plus finds, but for the letters and the length of a string. */
function peer(document: unknown, path: string): readonly unknown[] {
  if (typeof document !== 'object' || document === null) return [];
  const found = JSONPath({ path, json: document, eval: false, wrap: true, resultType: 'all' }) as {
    value: unknown;
    parent: unknown;
  }[];
  return found.filter(({ parent }) => typeof parent === 'object').map(({ value }) => value);
}

describe('readWide', () => {
  it('finds what jsonpath-plus finds', () => {
    const { document } = fc.letrec((tie) => ({
      document: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        tie('leaf'),
        tie('list'),
        tie('object'),
      ),
      leaf: fc.constantFrom<unknown>('text', 7, true, null),
      list: fc.array(tie('document'), { maxLength: 4 }),
      object: fc.dictionary(fc.constantFrom('a', 'b', '0', 'length'), tie('document'), { maxKeys: 3 }),
    }));
    const bounds = ['', '1', '2', '-1', '-2', '9'];
    // An end of 0 is for jsonpath-plus none at all; here, as in RFC 9535, it is 0.
    const range = fc
      .tuple(fc.constantFrom('0', ...bounds), fc.constantFrom(...bounds))
      .map(([from, to]) => `${from}:${to}`);
    const slice = fc.tuple(range, fc.constantFrom('', ':', ':1', ':2', ':0')).map((texts) => texts.join(''));
    const step = fc.oneof(
      fc.oneof(fc.constant('*'), slice).map(wide),
      fc.constantFrom('a', 'b', '0', '1', 'length').map(plain),
    );
    const path = fc.array(step, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(document, path, (json, steps) => {
        const found = peer(json, `$${steps.map(({ name }) => `[${name}]`).join('')}`);
        expect(readWide(json, steps)).toEqual(found.length > 1 ? 'several' : { value: found[0] });
      }),
      { numRuns: 5_000 },
    );
  });

  it('ends before the first at an end of 0', () => {
    expect(readWide(['a'], [wide(':0')])).toEqual({ value: undefined });
  });

  it('stops at the second value, and when it has looked at 10,000', () => {
    const list = (length: number) => Array.from({ length }, (_, id) => ({ id }));
    expect(readWide(list(1_000_000), [wide('*'), plain('id')])).toBe('several');
    expect(readWide(list(10_000), [wide('*'), plain('name')])).toEqual({ value: undefined });
    expect(readWide(list(10_001), [wide('*'), plain('name')])).toBe('too many');
    const cyclic: unknown[] = [];
    for (let i = 0; i < 300; i += 1) cyclic.push(cyclic);
    expect(readWide(cyclic, [wide('*'), wide('*'), wide('*'), plain('name')])).toBe('too many');
    expect(() => compileKey('#{a[*].name}').resolve(() => list(10_001))).toThrow(
      'finds its way through more than 10,000 values; it must find exactly one',
    );
  });
});
