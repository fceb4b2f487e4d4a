import { EventEmitter } from 'node:events';
import { readParameters } from './parameter-names.js';
import { type Method, type MethodLimit, type Permits, wrapMethod } from './wrap-method.js';

const key = 'computed';
type Loose = Record<string, unknown>;

class Forms extends EventEmitter {
  #secret = 1;
  async plain(a: unknown, b: unknown) {
    return [a, b, this.#secret, super.on];
  }
  withDefault(a = ')', b = { c: '}' }) {
    return [a, b];
  }
  [key](a: unknown /* , z */, ...rest: unknown[]) {
    return [a, rest];
  }
  [`${key}2`](手机: unknown, $a_1: unknown) {
    return [手机, $a_1];
  }
  async async(async: unknown) {
    return async;
  }
  get(of: unknown) {
    return of;
  }
  static static(a: unknown) {
    return a;
  }
  function(a: unknown) {
    return a;
  }
  'quoted name'(
    { a, b: { c: d }, 'e-f': g = 1, ...rest }: Loose & { b: Loose },
    [h]: unknown[],
    { [key]: i }: Loose,
  ) {
    return [a, d, g, rest, h, i];
  }
  none() {}
}

const permits: Permits = { refund: async () => {}, release: async () => {} };
const limit = (name: string): MethodLimit => ({
  decorator: '@CountLimit',
  name,
  level: 'method',
  admit: async () => permits,
});

const forms = Forms.prototype as unknown as Record<string, Method>;
const names = (method: unknown) => [...(readParameters(method as Method).names?.keys() ?? ['unknown'])];
const read = (method: unknown, name: string, ...args: unknown[]) =>
  readParameters(method as Method).names?.get(name)?.(args);

test.each<[string, unknown, string[]]>([
  ['an async method', forms.plain, ['a', 'b']],
  ['defaults', forms.withDefault, ['a', 'b']],
  ['a computed name and a rest', forms.computed, ['a', 'rest']],
  ['names beyond ASCII', forms.computed2, ['手机', '$a_1']],
  ['a method named async', forms.async, ['async']],
  ['a method named get', forms.get, ['of']],
  ['a static method named static', Forms.static, ['a']],
  ['a method named function', forms.function, ['a']],
  ['destructuring', forms['quoted name'], ['a', 'd', 'g']],
  ['no parameters', forms.none, []],
  ['an arrow function', async (a: unknown, { b }: Loose) => [a, b], ['a', 'b']],
  ['an arrow without parentheses', Function('return async x => x')(), ['x']],
  [
    'a function',
    function named(a: unknown) {
      return a;
    },
    ['a'],
  ],
  ['an async function', async (a: unknown, b: unknown) => [a, b], ['a', 'b']],
  ['one that ends in a comment', Function('return (a, b) => a // }')(), ['a', 'b']],
  ['a bound function', (forms.plain as Method).bind({}), ['unknown']],
  ['a native function', Array.prototype.map, ['unknown']],
  [
    'a wrapper of ours',
    wrapMethod(wrapMethod(forms.plain as Method, limit('inner')), limit('outer')),
    ['a', 'b'],
  ],
])('readParameters finds the names of %s', (_, method, expected) => {
  expect(names(method)).toEqual(expected);
});

test("readParameters reads each name's value from the arguments", () => {
  const destructured = forms['quoted name'];
  const argument = { a: 1, b: { c: 2 }, 'e-f': 3 };
  expect(read(destructured, 'a', argument)).toBe(1);
  expect(read(destructured, 'd', argument)).toBe(2);
  expect(read(destructured, 'g', argument)).toBe(3);
  expect(read(destructured, 'd', { b: null })).toBeUndefined();
  expect(read(destructured, 'd')).toBeUndefined();
  expect(read(forms.computed, 'rest', 1, 2, 3)).toEqual([2, 3]);
  expect(read(forms.withDefault, 'b', 1, 2)).toBe(2);
});

test.each<[string, unknown, unknown]>([
  ['a string', (a = 'x') => a, 'x'],
  ['a number', (a = 7) => a, 7],
  ['a negative number', (a = -7) => a, -7],
  ['a boolean', (a = false) => a, false],
  ['null', (a: unknown = null) => a, null],
  ['a template', (a = `x`) => a, 'x'],
  ['a part of an object', ({ a = 'x' } = {}) => a, 'x'],
  ['computed', (a = key) => a, undefined],
  ['a template with a computed part', (a = `${key}x`) => a, undefined],
  ['a regular expression', (a = /x/) => a, undefined],
  ['an object', (a = {}) => a, undefined],
])('a default value that is %s is read if it is constant', (_, method, expected) => {
  expect(read(method, 'a')).toBe(expected);
  expect(read(method, 'a', undefined)).toBe(expected);
  if (!String(method).includes('{ a')) expect(read(method, 'a', null)).toBeNull();
  const given = String(method).includes('{ a') ? { a: 1 } : 1;
  expect(read(method, 'a', given)).toBe(1);
});

test('a destructured parameter does not read inherited properties', () => {
  expect(read(({ constructor: c }: Loose) => c, 'c', {})).toBeUndefined();
});
