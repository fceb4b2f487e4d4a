import { ManualClock, memoryStore } from '@sluice/core';
import { CountLimit, configureSluice, RateLimit } from './index.js';

/** The clock of the store does not advance, so no window of a second ends during a test. */
beforeEach(() => configureSluice({ store: memoryStore({ clock: new ManualClock() }) }));

const denied = (name: string) => ({ decision: { name } });

/** A decorator of another library, which does not know Sluice. */
function foreign<This, Args extends unknown[], Result>(method: (this: This, ...args: Args) => Result) {
  return function (this: This, ...args: Args): Result {
    return method.apply(this, args);
  };
}

test('a method counts under the class that defines it, also for subclasses', async () => {
  class Base {
    @CountLimit()
    async list() {}
  }
  class Derived extends Base {}
  await new Derived().list();
  await expect(new Base().list()).rejects.toMatchObject(denied('countLimit:Base.list'));
});

test('an overriding method has its own limit, and super.method() counts under the base class', async () => {
  const runs: string[] = [];
  class Base {
    @CountLimit({ limit: 2 })
    async list() {
      runs.push('Base');
    }
    @CountLimit()
    static async all() {}
  }
  class Middle extends Base {}
  class Derived extends Middle {
    @CountLimit({ limit: 3 })
    override async list() {
      runs.push('Derived');
      await super.list();
    }
    @CountLimit()
    static override async all() {
      // biome-ignore lint/complexity/noThisInStatic: this test needs super
      await super.all();
    }
  }
  await new Derived().list();
  await new Derived().list();
  await expect(new Derived().list()).rejects.toMatchObject(denied('countLimit:Base.list'));
  await expect(new Derived().list()).rejects.toMatchObject(denied('countLimit:Derived.list'));
  expect(runs).toEqual(['Derived', 'Base', 'Derived', 'Base', 'Derived']);
  await Derived.all();
  await expect(Derived.all()).rejects.toMatchObject(denied('countLimit:Derived.all'));
  await expect(Base.all()).rejects.toMatchObject(denied('countLimit:Base.all'));
});

test('an inherited static method counts under the class that defines it', async () => {
  class Base {
    readonly id = 1;
    @RateLimit()
    static async all() {}
  }
  class Derived extends Base {}
  await Derived.all();
  await expect(Base.all()).rejects.toMatchObject(denied('rateLimit:Base.all'));
});

test('private methods of objects and classes are limited', async () => {
  class Vault {
    @CountLimit({ key: '#{pin}', limitType: 'CUSTOM' })
    async #open(pin: string) {
      return pin;
    }
    open(pin: string) {
      return this.#open(pin);
    }
    @CountLimit()
    static async #audit() {}
    static audit() {
      return Vault.#audit();
    }
  }
  await expect(new Vault().open('1')).resolves.toBe('1');
  await expect(new Vault().open('2')).resolves.toBe('2');
  await expect(new Vault().open('1')).rejects.toMatchObject(denied('countLimit:Vault.#open'));
  await Vault.audit();
  await expect(Vault.audit()).rejects.toMatchObject(denied('countLimit:Vault.#audit'));
});

describe('a detached call', () => {
  class Demo {
    @CountLimit()
    async list() {
      return this;
    }
    @CountLimit({ prefix: 'detached', key: '#{0}', limitType: 'CUSTOM' })
    async free(key: string) {
      return key;
    }
    @CountLimit()
    static async all() {
      return 'all';
    }
  }

  test('throws if the limit needs its class', async () => {
    const { list } = new Demo();
    await expect(list()).rejects.toThrow(/@CountLimit on list: called without an object of its class/);
    await expect(list.call({} as Demo)).rejects.toThrow(TypeError);
  });

  test('works if it is bound, or if the limit does not need its class', async () => {
    const demo = new Demo();
    await expect(demo.list.bind(demo)()).resolves.toBe(demo);
    const { free } = demo;
    await expect(free('a')).resolves.toBe('a');
    await expect(free('a')).rejects.toMatchObject(denied('detached'));
    const { all } = Demo;
    await expect(all()).resolves.toBe('all');
  });
});

test('a class without a name throws, unless its limit does not need the name', async () => {
  const Anonymous = (() =>
    class {
      @CountLimit()
      async list() {}
      @CountLimit({ prefix: 'anonymous', key: () => 'all', limitType: 'CUSTOM' })
      async free() {}
    })();
  Object.defineProperty(Anonymous, 'name', { value: '' }); // compilers may have invented one
  await expect(new Anonymous().list()).rejects.toThrow(/its class has no name.*name the class/);
  await new Anonymous().free();
});

test('a class name from a minifier is a valid name', async () => {
  const _t = class {
    @CountLimit()
    async list() {}
  };
  await new _t().list();
  await expect(new _t().list()).rejects.toMatchObject(denied('countLimit:_t.list'));
});

describe('a wrapper of another decorator around a limited method', () => {
  class Base {
    @foreign
    @CountLimit()
    async list() {}
  }
  class Derived extends Base {
    override async list() {
      await super.list();
    }
  }

  test('is recognized if one class has the method', async () => {
    await new Base().list();
    await expect(new Base().list()).rejects.toMatchObject(denied('countLimit:Base.list'));
  });

  test('throws if several classes have the method', async () => {
    await expect(new Derived().list()).rejects.toThrow(
      /Derived or Base: write this decorator above all others/,
    );
  });

  test('has no effect if the limit is above it', async () => {
    class Above {
      @CountLimit()
      @foreign
      async list() {}
    }
    await new Above().list();
    await expect(new Above().list()).rejects.toMatchObject(denied('countLimit:Above.list'));
  });
});

test('a spy on a method does not change its limit', async () => {
  class Demo {
    @CountLimit()
    async list() {}
  }
  const demo = new Demo();
  jest.spyOn(demo, 'list');
  await demo.list();
  jest.spyOn(Demo.prototype, 'list');
  await expect(new Demo().list()).rejects.toMatchObject(denied('countLimit:Demo.list'));
});

describe('the same decorator twice on one method', () => {
  test('throws if both would use one count', () => {
    expect(() => {
      class Demo {
        @CountLimit({ limit: 20, period: 60 })
        @RateLimit()
        @CountLimit({ limit: 200, period: 600 })
        async list() {}
      }
      return Demo;
    }).toThrow(
      /@CountLimit with prefix 'countLimit:' twice on one method .* pass a different prefix to one of them/,
    );
  });

  test('works if one of them has another prefix', async () => {
    class Demo {
      @CountLimit({ limit: 2 })
      @CountLimit({ prefix: 'byKey:', key: '#{key}', limitType: 'CUSTOM' })
      async list(key: string) {
        return key;
      }
    }
    await new Demo().list('a');
    await expect(new Demo().list('a')).rejects.toMatchObject(denied('byKey'));
    await new Demo().list('b');
    await expect(new Demo().list('c')).rejects.toMatchObject(denied('countLimit:Demo.list'));
  });
});

test('class and method names with any characters yield valid limiter names', async () => {
  class Größe$ {
    @CountLimit()
    async 发送() {}
    @CountLimit()
    async 'two words'() {}
    @CountLimit({ prefix: 'size' })
    async shared() {}
  }
  const demo = new Größe$();
  await demo.发送();
  await expect(demo.发送()).rejects.toMatchObject(denied('countLimit:Gr@u00f6@u00dfe@u0024.@u53d1@u9001'));
  await demo['two words']();
  await expect(demo['two words']()).rejects.toMatchObject(
    denied('countLimit:Gr@u00f6@u00dfe@u0024.two@u0020words'),
  );
  await demo.shared();
  await expect(demo.shared()).rejects.toMatchObject(denied('size'));
});

test.each([
  ['a position', '#{0}', undefined],
  ['a declared name', '#{number}', ['number']],
])('a key with %s reads a constant default value', async (_, key, params) => {
  class Pages {
    @CountLimit({ key, limitType: 'CUSTOM', ...(params && { params }) })
    async list(page = 1) {
      return page;
    }
  }
  const pages = new Pages();
  await expect(pages.list()).resolves.toBe(1);
  await expect(pages.list(1)).rejects.toMatchObject(denied('countLimit:Pages.list'));
  await expect(pages.list(2)).resolves.toBe(2);
});

test.each([
  ['#{0}', undefined],
  ['#{page}', undefined],
  ['#{number}', ['number']],
])('if an argument with a computed default is missing, the error of %s explains it', async (key, params) => {
  class Pages {
    @CountLimit({ key, limitType: 'CUSTOM', ...(params && { params }) })
    async list(page = Math.abs(-1)) {
      return page;
    }
  }
  const pages = new Pages();
  await expect(pages.list()).rejects.toMatchObject({
    code: 'SLUICE_KEY_RESOLUTION',
    status: 500,
    message: expect.stringMatching(
      /missing.* has a default value that a decorator cannot see.*pass the argument/,
    ),
  });
  await expect(pages.list(null as never)).rejects.toMatchObject({ status: 400 });
  await expect(pages.list(1)).resolves.toBe(1);
});

test('a default value yields the same key as the same value passed', async () => {
  class Pages {
    @CountLimit({ key: '#{lang}:#{page}', limitType: 'CUSTOM' })
    async list(page = 1, { lang = 'en' } = {}) {
      return `${lang} ${page}`;
    }
  }
  const pages = new Pages();
  await expect(pages.list()).resolves.toBe('en 1');
  await expect(pages.list(1, { lang: 'en' })).rejects.toMatchObject(denied('countLimit:Pages.list'));
  await expect(pages.list(1, { lang: 'de' })).resolves.toBe('de 1');
});
