import { KeyResolutionError } from '../errors.js';
import { keyPart } from './redis-key.js';

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe('keyPart', () => {
  it.each([
    ['a', 'a'],
    [' ', ' '],
    ['__proto__', '__proto__'],
    [0, '0'],
    [-0, '0'],
    [1.5, '1.5'],
    [-7, '-7'],
    [1e21, '1e+21'],
    [12345678901234567890n, '12345678901234567890'],
    [true, 'true'],
    [false, 'false'],
  ])('%p becomes %p', (value, text) => {
    expect(keyPart(value, 'the id')).toBe(text);
  });

  it.each([
    [undefined, 'is missing (undefined)'],
    [null, 'is null'],
    ['', 'is an empty string'],
    [Number.NaN, 'is NaN'],
    [Number.POSITIVE_INFINITY, 'is Infinity'],
    [Number.NEGATIVE_INFINITY, 'is -Infinity'],
    [['victim', '1000000', '1'], 'is an array'],
    [[], 'is an array'],
    [{ toString: () => 'victim' }, 'is an object'],
    [Object.create(null), 'is an object'],
    [new String('boxed'), 'is an object'],
    [new Date(0), 'is an object'],
    [cyclic, 'is an object'],
    [() => 'x', 'is a function'],
    [Symbol('s'), 'is a symbol'],
  ])('rejects %p', (value, problem) => {
    expect(() => keyPart(value, 'the id')).toThrow(KeyResolutionError);
    expect(() => keyPart(value, 'the id')).toThrow(`the id ${problem};`);
  });

  it('the error contains neither the value nor its contents', () => {
    expect(() => keyPart(['secret'], 'the id')).toThrow(expect.objectContaining({ expression: 'the id' }));
    expect(() => keyPart(['secret'], 'the id')).not.toThrow(/secret/);
  });
});
