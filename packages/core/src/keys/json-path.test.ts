import { KeyResolutionError } from '../errors.js';
import { compileKey } from './key-expression.js';

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
