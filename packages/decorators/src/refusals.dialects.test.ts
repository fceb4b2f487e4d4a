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
])('%s throws at decoration', (_, decorate, message) => {
  expect(decorate).toThrow(message);
  expect(decorate).toThrow(TypeError);
});

test('the compiler refuses a method that is not async; at run time it becomes async, with one warning', async () => {
  configureSluice();
  class Plain {
    // @ts-expect-error a limited method must be async
    @CountLimit({ limit: 2 })
    list(): string {
      return 'list';
    }
  }
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation();
  const answer: unknown = new Plain().list();
  expect(answer).toBeInstanceOf(Promise);
  await expect(answer).resolves.toBe('list');
  await new Plain().list();
  expect(emitted.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^@CountLimit on list: a limited method must be async, and list is not\. It returns/,
      ),
      expect.objectContaining({ code: 'SLUICE_SYNC_METHOD' }),
    ],
  ]);
  emitted.mockRestore();
});
