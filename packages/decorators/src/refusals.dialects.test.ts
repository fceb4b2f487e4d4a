import { CountLimit, configureSluice } from './index.js';

// biome-ignore lint/suspicious/noExplicitAny: what a program without types can write
const limit: any = CountLimit();

test.each<[string, () => unknown, RegExp]>([
  [
    'field',
    () => {
      class A {
        @limit
        list = async () => {};
      }
      return A;
    },
    /@CountLimit on list: limits methods, not a field: write it as a method/,
  ],
  [
    'generator',
    () => {
      class A {
        @limit
        *list() {}
      }
      return A;
    },
    /a generator cannot wait/,
  ],
  [
    'async generator',
    () => {
      class A {
        @limit
        async *list() {}
      }
      return A;
    },
    /a generator cannot wait/,
  ],
])('%s is refused where it is decorated', (_, decorate, message) => {
  expect(decorate).toThrow(message);
  expect(decorate).toThrow(TypeError);
});

test('the compiler refuses a method that returns no Promise; at run time it becomes async', async () => {
  configureSluice();
  class Plain {
    // @ts-expect-error a limited method must be async
    @CountLimit()
    list(): string {
      return 'list';
    }
  }
  const answer: unknown = new Plain().list();
  expect(answer).toBeInstanceOf(Promise);
  await expect(answer).resolves.toBe('list');
});
