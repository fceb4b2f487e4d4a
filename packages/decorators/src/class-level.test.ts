import { fixedWindow } from '@sluice/core';
import {
  CountLimit,
  configureSluice,
  Limit,
  RateLimit,
  SkipLimit,
  skippedLimits,
  skipsLimit,
} from './index.js';

const once = fixedWindow({ limit: 1, window: '1m' });

describe('errors at decoration', () => {
  test.each<[string, () => unknown, RegExp]>([
    [
      'a class without methods',
      () => {
        @CountLimit()
        class Fields {
          constructor(readonly id: number) {}
          list = async () => this.id;
          static async all() {}
        }
        return Fields;
      },
      /@CountLimit on Fields: it would limit nothing, .*not as fields/,
    ],
    [
      'a generator',
      () => {
        @Limit(once)
        class Pages {
          async *pages() {}
        }
        return Pages;
      },
      /@Limit on Pages, method pages: a generator cannot wait .*leave this one out with @SkipLimit\(\)/,
    ],
    [
      'a class with @SkipLimit()',
      () => {
        @RateLimit()
        @SkipLimit()
        class Both {
          async list() {}
        }
        return Both;
      },
      /@RateLimit on Both: the class also has @SkipLimit\(\): omit one of the two/,
    ],
    [
      'a name in a key that one of the methods does not have',
      () => {
        @CountLimit({ key: '#{phone}', limitType: 'CUSTOM' })
        class Sms {
          async send(phone: string) {
            return phone;
          }
          async status() {}
        }
        return Sms;
      },
      /@CountLimit on Sms, method status: the key "#\{phone\}" uses 'phone'/,
    ],
    [
      'the same decorator twice with one prefix',
      () => {
        @CountLimit({ limit: 2 })
        @CountLimit()
        class Twice {
          async list() {}
        }
        return Twice;
      },
      /@CountLimit with prefix 'countLimit:' twice on one method/,
    ],
    [
      'a class without a name',
      () => {
        const Anonymous = (() =>
          class {
            async list() {}
          })();
        Object.defineProperty(Anonymous, 'name', { value: '' });
        return CountLimit()(Anonymous);
      },
      /its class has no name/,
    ],
    [
      '@SkipLimit on a field',
      () => {
        class A {
          // @ts-expect-error it is for methods and classes
          @SkipLimit()
          list = async () => {};
        }
        return A;
      },
      /@SkipLimit is for methods and classes only/,
    ],
    [
      '@SkipLimit without parentheses',
      () => {
        class A {
          // @ts-expect-error it wants parentheses
          @SkipLimit
          async list() {}
        }
        return A;
      },
      /@SkipLimit needs parentheses: write @SkipLimit\(\) or @SkipLimit\('login'\)/,
    ],
  ])('%s throws at decoration', (_, decorate, message) => {
    expect(decorate).toThrow(message);
    expect(decorate).toThrow(Error);
  });
});

test('skipsLimit is true for a class with @SkipLimit() and its subclasses', () => {
  @SkipLimit()
  class Base {}
  class Derived extends Base {}
  @CountLimit()
  class Limited extends Base {
    async list() {}
  }
  class Other {}
  expect([Base, Derived, Limited].map(skipsLimit)).toEqual([true, true, true]);
  expect([Other, {}, undefined].map(skipsLimit)).toEqual([false, false, false]);
});

test('@SkipLimit with a name skips that limit only', async () => {
  configureSluice();
  @CountLimit({ prefix: 'codes:', limit: 1, period: 60 })
  @Limit({ policy: once, prefix: 'all' })
  class Codes {
    @SkipLimit('codes')
    async uncounted() {}
    @SkipLimit('codes')
    @SkipLimit('all')
    async free() {
      return 'free';
    }
    async counted() {}
  }
  const codes = new Codes();
  await codes.counted();
  await expect(codes.counted()).rejects.toMatchObject({ decision: { name: 'codes' } });
  await codes.uncounted();
  await expect(codes.uncounted()).rejects.toMatchObject({ decision: { name: 'all' } });
  for (let i = 0; i < 3; i += 1) await expect(codes.free()).resolves.toBe('free');
});

test('@SkipLimit with a name that no limit has warns once, at the first call', async () => {
  configureSluice();
  @CountLimit({ prefix: 'letters:', limit: 9 })
  @Limit({ policy: fixedWindow({ limit: 9, window: '1m' }), prefix: 'parcels' })
  class Post {
    @SkipLimit('leters')
    async send() {}
    @SkipLimit('zzzzzzzzzzzz')
    async fetch() {}
    @SkipLimit('parcels')
    async weigh() {}
  }
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation();
  const post = new Post();
  for (let i = 0; i < 2; i += 1) {
    await post.send();
    await post.fetch();
    await post.weigh();
  }
  expect(
    emitted.mock.calls.map(([message, options]) => [message, (options as { code: string }).code]),
  ).toEqual([
    [
      "@SkipLimit('leters') skips nothing: no limit that can be skipped has this name; did you mean 'letters'?",
      'SLUICE_SKIPS_NOTHING',
    ],
    [
      expect.stringMatching(/^@SkipLimit\('zzzzzzzzzzzz'\) skips nothing: .*; known are .*parcels/),
      'SLUICE_SKIPS_NOTHING',
    ],
  ]);
  emitted.mockRestore();
});

test('a class can have a limit and skip another one', () => {
  @CountLimit()
  @SkipLimit('login')
  class Mixed {
    async list() {}
  }
  expect(skippedLimits(Mixed)).toEqual(['login']);
  expect(skipsLimit(Mixed)).toBe(false);
  expect(() => CountLimit({ prefix: 'login' })(Mixed)).toThrow(/the class also has @SkipLimit\(\)/);
});

test.each([['a b'], [''], [7]])('@SkipLimit(%p) throws, because no limit can have that name', (name) => {
  expect(() => SkipLimit(name as string)).toThrow(/@SkipLimit: the name of a limit must be 1 to 100/);
});

test('a class exported under another name counts under its own name', async () => {
  configureSluice();
  @CountLimit({ period: 60 })
  class Inner {
    async list() {}
  }
  const Outer = Inner;
  await new Outer().list();
  await expect(new Outer().list()).rejects.toMatchObject({ decision: { name: 'countLimit:Inner.list' } });
});

test("@SkipLimit throws for the throttler's object, and describes a valid name", () => {
  expect(() => SkipLimit({ default: true } as never)).toThrow(/^@SkipLimit: the name of a limit /);
});
