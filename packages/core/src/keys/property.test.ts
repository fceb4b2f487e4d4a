import { runInNewContext } from 'node:vm';
import { readProperty } from './property.js';

class Dto {
  static tenant = 'static';
  own = 'own';
  #id = 7;
  get id(): number {
    return this.#id;
  }
  set writeOnly(_value: string) {}
  method(): string {
    return 'called';
  }
}
class Child extends Dto {
  override method(): string {
    return 'child';
  }
}
Object.assign(Dto.prototype, { inherited: 'value' });

/** How Express builds a request: accessors on an object two levels up. */
const express = Object.create(
  Object.create(Object.defineProperty({}, 'ip', { get: () => '1.2.3.4' })),
) as object;
const foreign = runInNewContext('({ a: 1 })') as object;
const polluted = JSON.parse('{"__proto__": "own", "constructor": "mine"}') as object;

describe('readProperty', () => {
  it.each<[string, unknown, string, unknown]>([
    ['an own field', new Dto(), 'own', 'own'],
    ['a class accessor', new Dto(), 'id', 7],
    ['an inherited class accessor', new Child(), 'id', 7],
    ['an accessor of a request', express, 'ip', '1.2.3.4'],
    [
      'an own accessor',
      {
        get a() {
          return 1;
        },
      },
      'a',
      1,
    ],
    ['an array item', ['x'], '0', 'x'],
    ['the length of an array', ['x'], 'length', 1],
    ['a null-prototype object', Object.assign(Object.create(null), { a: 1 }), 'a', 1],
    ['an own __proto__ of parsed JSON', polluted, '__proto__', 'own'],
    ['an own constructor', polluted, 'constructor', 'mine'],
  ])('finds %s', (_what, holder, name, value) => {
    expect(readProperty(holder, name)).toBe(value);
  });

  it.each<[string, unknown, string]>([
    ['__proto__', {}, '__proto__'],
    ['__proto__ of another realm', foreign, '__proto__'],
    ['__proto__ of a class instance', new Child(), '__proto__'],
    ['constructor', new Dto(), 'constructor'],
    ['toString', {}, 'toString'],
    ['a method', new Dto(), 'method'],
    ['an inherited plain value', new Dto(), 'inherited'],
    ['a setter', new Dto(), 'writeOnly'],
    ['a static member', Dto, 'tenant'],
    ['the name of a function', () => 1, 'name'],
    ['the length of a string', 'text', 'length'],
    ['a letter of a string', 'text', '0'],
    ['a missing field', {}, 'a'],
    ['anything in null', null, 'a'],
    ['anything in undefined', undefined, 'a'],
    ['anything in a number', 1, 'toFixed'],
  ])('does not find %s', (_what, holder, name) => {
    expect(readProperty(holder, name)).toBeUndefined();
  });

  it('passes on an error of an accessor', () => {
    class Broken {
      get id(): string {
        throw new Error('not signed in');
      }
    }
    expect(() => readProperty(new Broken(), 'id')).toThrow('not signed in');
  });
});
