import { CountLimit } from './index.js';

// biome-ignore lint/suspicious/noExplicitAny: what a program without types can write
const limit: any = CountLimit();

test('a decorator without parentheses throws instead of leaving the method unlimited', () => {
  // biome-ignore lint/suspicious/noExplicitAny: what a program without types can write
  const bare: any = CountLimit;
  expect(() => {
    class A {
      @bare
      async send() {}
    }
    return A;
  }).toThrow('@CountLimit needs parentheses: write @CountLimit() or @CountLimit({ … })');
});

test.each<[string, () => unknown, RegExp]>([
  [
    'parameter',
    () => {
      class A {
        async list(@limit _phone: string) {}
      }
      return A;
    },
    /@CountLimit on list: limits methods, not a parameter: decorate the method/,
  ],
  [
    'constructor parameter',
    () => {
      class A {
        constructor(@limit _phone: string) {}
      }
      return A;
    },
    /@CountLimit on constructor: limits methods, not a parameter/,
  ],
  ['value that is not a function', () => limit({}, 'list', { value: 7 }), /limits a method, not 7/],
  [
    'getter',
    () => {
      class A {
        @limit
        get list() {
          return 1;
        }
      }
      return A;
    },
    /not an accessor/,
  ],
  [
    'method of a class without a name',
    () => limit((() => class {})(), 'list', { value: async () => {} }),
    /its class has no name/,
  ],
  [
    'default export',
    () => limit({ constructor: { name: 'default' } }, 'list', { value() {} }),
    /its class has no name/,
  ],
  [
    'unknown name in a key',
    () => {
      class A {
        @CountLimit({ key: '#{fone}', limitType: 'CUSTOM' })
        async list(_phone: string) {}
      }
      return A;
    },
    /@CountLimit on list: the key "#\{fone\}" uses 'fone'.*\(_phone\)/,
  ],
])('%s throws at decoration', (_, decorate, message) => {
  expect(decorate).toThrow(message);
});
