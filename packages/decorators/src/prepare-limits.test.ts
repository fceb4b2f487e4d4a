import { memoryStore } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import {
  CountLimit,
  closeSluice,
  configureSluice,
  Limit,
  prepareLimits,
  RateLimit,
  SkipLimit,
} from './index.js';

class Base {
  @CountLimit({ limit: 1, period: 60 })
  async inherited() {}

  @CountLimit({ limit: 1, period: 60 })
  async overridden() {}
}

class Codes extends Base {
  @RateLimit({ key: '#{phone}', rate: 1 / 60, burst: 60, limitType: 'CUSTOM' })
  async send(phone: string) {
    return phone;
  }

  @Limit('a-rule')
  async ruled() {}

  override async overridden() {}

  @CountLimit({ limit: 1, period: 60 })
  static async all() {}
}

@CountLimit({ limit: 1, period: 60 })
class Whole {
  async first() {}

  @SkipLimit('another')
  async second() {}
}

const made = async (...objects: object[]) => {
  const store = memoryStore();
  configureSluice({ store });
  objects.forEach(prepareLimits);
  const [process] = await readDefinitions(store);
  await closeSluice();
  await store.close();
  return process?.limiters ?? [];
};

test('prepareLimits makes the limits of an object known before a call', async () => {
  const limiters = await made(new Codes());
  expect(limiters.map(({ name }) => name).sort()).toEqual([
    'countLimit:Base.inherited',
    'rateLimit:Codes.send',
  ]);
  expect(limiters.find(({ name }) => name === 'rateLimit:Codes.send')!.key).toBe('#{phone}');
});

test('prepareLimits prepares static methods of a class, and each method of a limited class', async () => {
  const limiters = await made(Codes, new Whole());
  expect(limiters.map(({ name }) => name).sort()).toEqual([
    'countLimit:Codes.all',
    'countLimit:Whole.first',
    'countLimit:Whole.second',
  ]);
});

test('prepareLimits takes no permits', async () => {
  configureSluice();
  const codes = new Codes();
  prepareLimits(codes);
  prepareLimits(codes);
  await expect(codes.inherited()).resolves.toBeUndefined();
  await closeSluice();
});

test('prepareLimits fails for a class without a name', () => {
  configureSluice();
  const nameless = new (class {
    @CountLimit({ limit: 1, period: 60 })
    async limited() {}
  })();
  expect(() => prepareLimits(nameless)).toThrow(/its class has no name/);
  return closeSluice();
});
