import { compileKey } from '@sluice/core/internal';
import { fixedWindow } from '../../packages/core/src/index.js';
import { CountLimit } from '../../packages/decorators/src/index.js';
import { rateLimit } from '../../packages/express/src/index.js';

const CODE = 'globalThis.sluiceOwned = true';

/** Published payloads against jsonpath-plus (CVE-2024-21534, CVE-2025-1302), variants of them, and other syntax of it that runs code or searches. */
const PAYLOADS = [
  `$..[?(p="${CODE}";a=''[['constructor']][['constructor']](p);a())]`,
  `$[?(con=constructor;dp=con.defineProperty;gopd=con.getOwnPropertyDescriptor;f=gopd(con,'entries').value;alt=gopd(con.getPrototypeOf(f),'apply');dp(con.getPrototypeOf(_$_root.body),'toString',alt);)]`,
  `$..[?(' '.sub.constructor('${CODE}')())]`,
  `$[?(@.constructor.constructor('${CODE}')())]`,
  `$[(this.constructor.constructor("${CODE}")())]`,
  `$..[?(this.constructor.constructor("${CODE}")())]`,
  `$..[?(_$_path.constructor.constructor('${CODE}')())]`,
  `$..[?(@root.constructor.constructor('${CODE}')())]`,
  `$[?(@.x = (() => { ${CODE} })())]`,
  `$.a[(@.length-1)]`,
  `$.a[?(@.b)]`,
  '$.a[?(@property === "b")]',
  '$.a[?@parent]',
  '$..a',
  '$..*',
  '$.a^',
  '$.a[*]^',
  '$.a~',
  '$.a[*]~',
  '$.a@string()',
  '$.a[*]@other()',
  '$.a[*]@null()',
  '$.`a`',
  '$.a[`b`]',
  '$.a[b,c]',
  "$.a['b','c']",
  '$.a[0,1]',
  '$.a;b',
  '$.a.(b)',
  '$[a](b)',
  '@',
  '',
  ' ',
];

afterEach(() => expect(globalThis).not.toHaveProperty('sluiceOwned'));

describe.each(PAYLOADS)('%s', (payload) => {
  test.each([
    `#{${payload}}`,
    `#<${payload}>`,
    `x:#{a}:#{${payload}}`,
    `#{a[*].${payload.replace(/^\$\.?/, '')}}`,
  ])('throws at construction as %s', (key) => {
    const policy = fixedWindow({ limit: 1, window: '1m' });
    expect(() => compileKey(key)).toThrow(RangeError);
    expect(() => rateLimit({ policy, key })).toThrow(RangeError);
    expect(() => {
      class Service {
        @CountLimit({ key, limit: 1, period: 60, limitType: 'CUSTOM' })
        async send(_a: unknown) {}
      }
      return Service;
    }).toThrow(RangeError);
  });

  test('is only text as a value or a name', () => {
    const { resolve } = compileKey('#{a.b}:#{c}');
    const data: Record<string, unknown> = { a: { b: payload || 'none' }, c: payload || 'none' };
    expect(typeof resolve((root) => data[root])).toBe('string');
    const named = { a: [{ [payload]: payload, x: 'x' }] };
    expect(compileKey('#{a[*].x}').resolve(() => named.a)).toBe('x');
    // In quotes it is only a name.
    for (const template of [`#{a['${payload}']}`, `#{a["${payload}"]}`]) {
      let found: unknown;
      try {
        found = compileKey(template).resolve(() => ({ [payload]: 'found' }));
      } catch (error) {
        found = (error as Error).name;
      }
      expect(['found', 'RangeError']).toContain(found);
    }
  });
});
