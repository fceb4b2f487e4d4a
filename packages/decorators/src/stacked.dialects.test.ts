import { concurrency, fixedWindow, isStoreUnavailableError, ManualClock, memoryStore } from '@sluice/core';
import { failingStore } from '../tests/failing-store.js';
import { CountLimit, configureSluice, Limit, RateLimit } from './index.js';

class Stacked {
  @CountLimit({ limit: 1, period: 60, key: '#{phone}', limitType: 'CUSTOM' })
  @CountLimit({ limit: 2, period: 86_400, prefix: 'day', key: '#{phone}', limitType: 'CUSTOM' })
  async send(phone: string) {
    return phone;
  }

  @CountLimit({ limit: 3, period: 60 })
  @RateLimit({ rate: 2 / 60, burst: 60 })
  @Limit(fixedWindow({ limit: 1, window: '1m' }))
  async three() {
    return 'three';
  }

  @CountLimit({ period: 60 })
  @RateLimit({ rate: 5, key: '#{_user.id}', limitType: 'CUSTOM' })
  async fails(_user: { id?: string }, reason?: Error) {
    if (reason !== undefined) throw reason;
    return 'fails';
  }

  @CountLimit({ period: 60 })
  @RateLimit({ rate: 5 })
  async outer() {
    return this.inner();
  }

  @CountLimit({ period: 60 })
  async inner() {
    return 'inner';
  }

  @CountLimit({ limit: 2, period: 60 })
  @RateLimit({ timeout: 1 })
  async waits() {
    return 'waits';
  }

  @Limit(concurrency({ limit: 1 }))
  @CountLimit({ key: '#{_phone}', limitType: 'CUSTOM', period: 60 })
  async alone(_phone: string) {
    return 'alone';
  }
}

const denied = (name: string) => ({ status: 429, decision: { name } });
let clock: ManualClock;
let demo: Stacked;

beforeEach(() => {
  clock = new ManualClock();
  configureSluice({ store: memoryStore({ clock }) });
  demo = new Stacked();
});

test('each stacked limit counts separately', async () => {
  await demo.send('a');
  await expect(demo.send('a')).rejects.toMatchObject(denied('countLimit:Stacked.send'));
  await demo.send('b');
  await clock.advance('60s');
  await demo.send('a');
  await clock.advance('60s');
  await expect(demo.send('a')).rejects.toMatchObject(denied('day'));
  await demo.send('b');
});

test('an inner denial refunds the permits of the outer limits', async () => {
  await demo.three();
  // Without the refund, the outer limits of 2 and 3 would deny by then.
  for (let i = 0; i < 5; i++) {
    await expect(demo.three()).rejects.toMatchObject(denied('limit:Stacked.three'));
  }
});

test('stacked limits decide from the outside in', async () => {
  const store = failingStore(/never/);
  configureSluice({ store });
  await demo.three();
  await expect(demo.three()).rejects.toMatchObject({ status: 429 });
  const names = store.operations.map((operation) =>
    operation.replace(/^(\w+) .*:(\w+):Stacked.three.*$/, '$1 $2'),
  );
  expect(names.slice(0, 6)).toEqual([
    'consume countLimit',
    'consume rateLimit',
    'consume limit',
    'consume countLimit',
    'consume rateLimit',
    'consume limit',
  ]);
  expect(names.slice(6).sort()).toEqual(['refund countLimit', 'refund rateLimit']);
});

test('if the method itself fails, its permits stay spent', async () => {
  await expect(demo.fails({ id: '1' }, new Error('of the method'))).rejects.toThrow('of the method');
  await expect(demo.fails({ id: '1' })).rejects.toMatchObject(denied('countLimit:Stacked.fails'));
});

test('if the method calls another limited method that denies, its permits stay spent', async () => {
  await demo.inner();
  await expect(demo.outer()).rejects.toMatchObject(denied('countLimit:Stacked.inner'));
  await expect(demo.outer()).rejects.toMatchObject(denied('countLimit:Stacked.outer'));
});

test('an inner limit without a key takes no permit of the outer limits', async () => {
  await expect(demo.fails({})).rejects.toMatchObject({ code: 'SLUICE_KEY_RESOLUTION' });
  await expect(demo.fails({ id: '1' })).resolves.toBe('fails');
});

test('an inner limit whose store is out takes no permit of the outer limits', async () => {
  const memory = memoryStore({ clock });
  configureSluice({ store: failingStore(/consume .*rateLimit/, memory) });
  const error = await demo.fails({ id: '1' }).catch((reason: unknown) => reason);
  expect(isStoreUnavailableError(error)).toBe(true);
  configureSluice({ store: memory });
  await expect(demo.fails({ id: '1' })).resolves.toBe('fails');
});

test('a permit whose refund fails stays spent, and the caller still gets the denial', async () => {
  configureSluice({ store: failingStore(/refund/, memoryStore({ clock })) });
  await demo.three();
  await expect(demo.three()).rejects.toMatchObject(denied('limit:Stacked.three'));
  await expect(demo.three()).rejects.toMatchObject(denied('rateLimit:Stacked.three'));
});

test('a call that an outer limit denies does not disturb a call waiting at the inner limit', async () => {
  await demo.waits();
  const second = demo.waits();
  await expect(demo.waits()).rejects.toMatchObject(denied('countLimit:Stacked.waits'));
  await clock.advance('1s');
  await expect(second).resolves.toBe('waits');
});

test('an inner denial releases a held permit of the outer limit', async () => {
  await demo.alone('a');
  await expect(demo.alone('a')).rejects.toMatchObject(denied('countLimit:Stacked.alone'));
  await expect(demo.alone('b')).resolves.toBe('alone');
});
