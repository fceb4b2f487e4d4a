import { ManualClock, memoryStore } from '@sluice/core';
import { CountLimit, configureSluice, createSluice, SLUICE } from './index.js';

/** The clock of the store does not advance, so no window of a second ends during a test. */
beforeEach(() => configureSluice({ store: memoryStore({ clock: new ManualClock() }) }));

const denied = (name: string) => ({ decision: { name } });

test('a method counts under the class that defines it, also for super.method() and statics', async () => {
  class Base {
    @CountLimit()
    async list() {}
    @CountLimit()
    static async all() {}
  }
  class Derived extends Base {
    @CountLimit({ limit: 2 })
    override async list() {
      await super.list();
    }
  }
  await new Derived().list();
  await expect(new Derived().list()).rejects.toMatchObject(denied('countLimit:Base.list'));
  await expect(new Derived().list()).rejects.toMatchObject(denied('countLimit:Derived.list'));
  await Derived.all();
  await expect(Base.all()).rejects.toMatchObject(denied('countLimit:Base.all'));
});

test('a detached call counts like any other, under the configuration of its class', async () => {
  class Demo {
    static [SLUICE] = createSluice({ store: memoryStore({ clock: new ManualClock() }) });
    @CountLimit()
    async list() {
      return 'listed';
    }
  }
  const { list } = new Demo();
  await expect(list()).resolves.toBe('listed');
  await expect(new Demo().list()).rejects.toMatchObject(denied('countLimit:Demo.list'));
});
