import { KeyResolutionError } from '../errors.js';
import { compileKey } from './key-expression.js';
import { jsonPathReader } from './property.js';
import type { Step } from './template-syntax.js';

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

  it('not even if it is in the data', () => {
    const data = { [`?(${code})`]: 1, [`(${code})`]: 2, list: [`@.constructor.constructor("${code}")()`] };
    expect(compileKey('#{data.list[*]}').resolve(() => data)).toContain('constructor');
    expect(() => compileKey('#{data[*]}').resolve(() => data)).toThrow(KeyResolutionError);
    expect(marker.sluiceOwned).toBeUndefined();
  });
});

const wide = (name: string) => ({ name, wide: true });
const plain = (name: string) => ({ name, wide: false });
const list = (length: number) => Array.from({ length }, (_, id) => ({ id }));

describe('a document of a client cannot block the process', () => {
  it.each<[string, unknown, Step[]]>([
    ['a long list', list(1_000_000), [wide('*'), plain('id')]],
    ['a slice of a long list', list(1_001), [wide('-1:'), plain('id')]],
    ['a wide object', Object.fromEntries(list(1_001).map(({ id }) => [id, id])), [wide('*')]],
    ['lists in lists', Array.from({ length: 40 }, () => list(40)), [wide('*'), wide('*')]],
    ['a list of itself', cyclic(300), [wide('*'), wide('*'), wide('*'), plain('name')]],
  ])('%s', (_, document, steps) => {
    expect(jsonPathReader(steps)(document)).toBe('too many');
  });

  it('at most 1,000 values are read', () => {
    expect(jsonPathReader([wide('*'), plain('id')])(list(1_000))).toHaveLength(1_000);
    expect(jsonPathReader([plain('0'), plain('id')])(list(1_000_000))).toEqual([0]);
    expect(() => compileKey('#{a[*].name}').resolve(() => list(1_001))).toThrow(
      'finds more than 1000 values; it must find exactly one',
    );
  });
});

function cyclic(length: number): unknown[] {
  const itself: unknown[] = [];
  for (let i = 0; i < length; i += 1) itself.push(itself);
  return itself;
}
