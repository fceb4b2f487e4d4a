import {
  concurrency,
  fixedWindow,
  isLimiterClosedError,
  isStoreUnavailableError,
  ManualClock,
  memoryStore,
  type Store,
  StoreUnavailableError,
  slidingLog,
  storageKey,
} from '@sluice/core';
import { type RequestView, runWithRequest } from '@sluice/http';
import { farStore } from '../../../tests/support/far-store.js';
import {
  CountLimit,
  closeSluice,
  configureSluice,
  createSluice,
  Limit,
  RateLimit,
  SLUICE,
  type Sluice,
} from './index.js';

class Demo {
  @CountLimit({ period: 60 })
  async list() {
    return 'listed';
  }
  @RateLimit({ timeout: 60, rate: 1 / 60, burst: 60 })
  async slow() {}
  @CountLimit({ limitType: 'USER' })
  async byUser() {}
  @CountLimit({ limitType: 'IP' })
  async byIp() {}
}

const from = <T>(view: Partial<RequestView>, work: () => T): T => runWithRequest(view as RequestView, work);
const denial = expect.objectContaining({ status: 429 });

/** Records the keys of its calls, and can be out. */
function recordingStore(): Store & { keys: string[]; out: boolean; closed: boolean } {
  const memory = memoryStore();
  return {
    name: 'recording',
    remote: false,
    clock: memory.clock,
    keys: [],
    out: false,
    closed: false,
    async decide(call) {
      if (this.out) throw new StoreUnavailableError('out');
      this.keys.push(...call.parts.map(storageKey));
      return memory.decide(call);
    },
    async close() {
      this.closed = true;
    },
  };
}

afterEach(() => configureSluice());

test('without configuration, all limits share one memory store', async () => {
  jest.resetModules();
  const slots = globalThis as { [key: symbol]: unknown };
  const slot = Symbol.for('sluice.decorators.configurations');
  const ours = slots[slot];
  delete slots[slot];
  const fresh: typeof import('./index.js') = await import('./index.js');
  class Fresh {
    @fresh.CountLimit({ period: 60 })
    async list() {}
  }
  await new Fresh().list();
  await expect(new Fresh().list()).rejects.toEqual(denial);
  await fresh.closeSluice();
  slots[slot] = ours;
});

test("two copies of this package share configuration and recognize each other's wrappers", async () => {
  const store = recordingStore();
  configureSluice({ store });
  jest.resetModules();
  const copy: typeof import('./index.js') = await import('./index.js');
  expect(copy.CountLimit).not.toBe(CountLimit);
  class Both {
    @CountLimit({ key: '#{_phone}', limitType: 'CUSTOM' })
    @copy.RateLimit({ rate: 9 })
    async send(_phone: string) {}
  }
  await new Both().send('139');
  expect(store.keys).toEqual([
    'sluice:v2:fw:countLimit:Both.send:{139}',
    'sluice:v2:tb:rateLimit:Both.send:{Both.send}',
  ]);
});

test('store, keyPrefix, user and ipv6Subnet take effect', async () => {
  const store = recordingStore();
  configureSluice({
    store,
    keyPrefix: 'shop',
    user: ({ headers }) => (headers as { uid: string }).uid,
    ipv6Subnet: 48,
  });
  await new Demo().list();
  await from({ headers: { uid: 'u1' } }, () => new Demo().byUser());
  await from({ ip: '2001:db8:1:2::3' }, () => new Demo().byIp());
  expect(store.keys).toEqual([
    'shop:v2:fw:countLimit:Demo.list:{Demo.list}',
    'shop:v2:fw:countLimit:Demo.byUser:{u1}',
    'shop:v2:fw:countLimit:Demo.byIp:{2001:db8:1::/48}',
  ]);
  await expect(from({ headers: {} }, () => new Demo().byUser())).rejects.toMatchObject({
    code: 'SLUICE_KEY_RESOLUTION',
    status: 500,
    cause: { message: expect.stringContaining('option `user`') },
  });
});

test('an address in a key is a client, in every spelling', async () => {
  class Login {
    @CountLimit({ key: 'login:#{ip}' })
    async code() {}
    @CountLimit({ key: ['#{query.phone}', '#{ip}'] })
    async link() {}
  }
  const store = recordingStore();
  configureSluice({ store, ipv6Subnet: 48 });
  await from({ ip: '2001:db8:1:2::3' }, () => new Login().code());
  await from({ ip: '::ffff:192.0.2.7' }, () => new Login().code());
  await from({ ip: '2001:db8:1:2::3', query: {} }, () => new Login().link());
  expect(store.keys).toEqual([
    'sluice:v2:fw:countLimit:Login.code:{login:2001:db8:1::/48}',
    'sluice:v2:fw:countLimit:Login.code:{login:192.0.2.7}',
    'sluice:v2:fw:countLimit:Login.link:{ip:2001:db8:1::/48}',
  ]);
});

test('an error of the store passes unchanged, and the method does not run', async () => {
  const store = recordingStore();
  store.out = true;
  configureSluice({ store });
  const error = await new Demo().list().catch((reason: unknown) => reason);
  expect(isStoreUnavailableError(error)).toBe(true);
});

test('deadline bounds a call to a remote store', async () => {
  const store: Store = { ...recordingStore(), remote: true, decide: () => new Promise(() => {}) };
  configureSluice({ store, deadline: 20 });
  const error = await new Demo().list().catch((reason: unknown) => reason);
  expect(isStoreUnavailableError(error)).toBe(true);
});

test('prefetch applies only to methods whose policy supports it', async () => {
  class Mixed {
    @Limit(concurrency({ limit: 10 }))
    async held() {
      return 'held';
    }
    @Limit(slidingLog({ limit: 10, window: '1m' }))
    async logged() {
      return 'logged';
    }
    @Limit(fixedWindow({ limit: 100, window: '1h' }))
    async counted() {}
  }
  const { store, calls } = farStore();
  configureSluice({ store, prefetch: { most: 10 } });
  const mixed = new Mixed();
  for (let i = 0; i < 3; i += 1) await mixed.counted();
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual([1, 2]);
  expect([await mixed.held(), await mixed.logged()]).toEqual(['held', 'logged']);
  expect(() => configureSluice({ prefetch: { most: 0 } })).toThrow(RangeError);
});

test('a new configuration applies to later calls; waiting calls end under the old one', async () => {
  const clock = new ManualClock();
  configureSluice({ store: memoryStore({ clock }) });
  const demo = new Demo();
  await demo.list();
  await demo.slow();
  const waiting = demo.slow();
  configureSluice();
  await demo.list();
  await expect(demo.list()).rejects.toEqual(denial);
  await clock.advance('60s');
  await waiting;
});

describe('closeSluice', () => {
  test('ends waits, also under a replaced configuration, and rejects calls until the next configureSluice', async () => {
    const store = recordingStore();
    configureSluice({ store });
    const demo = new Demo();
    await demo.slow();
    const waiting = demo.slow().catch((reason: unknown) => reason);
    await new Promise(setImmediate);
    configureSluice();
    await closeSluice();
    expect(isLimiterClosedError(await waiting)).toBe(true);
    expect(store.closed).toBe(false);
    for (const call of [demo.list(), demo.slow()]) {
      expect(isLimiterClosedError(await call.catch((reason: unknown) => reason))).toBe(true);
    }
    await closeSluice();
    configureSluice();
    await expect(demo.list()).resolves.toBe('listed');
  });
});

describe('a [SLUICE] configuration', () => {
  test('on a class applies to its objects, statics and subclasses', async () => {
    const store = recordingStore();
    const common = recordingStore();
    configureSluice({ store: common });
    class Shop {
      static readonly [SLUICE] = createSluice({ store, keyPrefix: 'shop' });
      @CountLimit()
      async list() {}
      @CountLimit()
      static async all() {}
    }
    class Branch extends Shop {}
    await new Branch().list();
    await Shop.all();
    expect(store.keys).toEqual([
      'shop:v2:fw:countLimit:Shop.list:{Shop.list}',
      'shop:v2:fw:countLimit:Shop.all:{Shop.all}',
    ]);
    expect(common.keys).toEqual([]);
    await Shop[SLUICE].close();
    await expect(new Shop().list()).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
  });

  test('on an object overrides the one of its class', async () => {
    class Tenant {
      static readonly [SLUICE] = createSluice();
      readonly [SLUICE]: Sluice;
      constructor(sluice: Sluice) {
        this[SLUICE] = sluice;
      }
      @CountLimit({ period: 60 })
      async list() {}
    }
    await new Tenant(createSluice()).list();
    const tenant = new Tenant(createSluice());
    await tenant.list();
    await expect(tenant.list()).rejects.toEqual(denial);
  });

  test('must be a result of createSluice', async () => {
    class Wrong {
      static readonly [SLUICE] = { store: memoryStore() };
      @CountLimit()
      async list() {}
    }
    await expect(new Wrong().list()).rejects.toThrow(
      /\[SLUICE\] must be a result of createSluice\(\{ … \}\), not an object/,
    );
  });
});
