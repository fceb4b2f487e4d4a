import { fixedWindow } from '@sluice/core';
import { CountLimit, Limit } from './index.js';

const once = fixedWindow({ limit: 1, window: '1m' });

class Orders {
  @CountLimit({ limitType: 'CUSTOM', key: (order: { customer: string }) => order.customer, period: 60 })
  async place({ customer }: { customer: string }) {
    return customer;
  }

  @Limit({ prefix: 'catalogue', policy: once, limitType: 'CUSTOM', key: () => 'all' })
  async list() {}

  @Limit({ prefix: 'catalogue', policy: once, limitType: 'CUSTOM', key: () => 'all' })
  async find() {}

  @Limit({ policy: once, limitType: 'CUSTOM', key: (name?: string) => name as string })
  async named(_name?: string) {}

  @Limit({
    policy: once,
    limitType: 'CUSTOM',
    key: () => {
      throw new Error('no such tenant');
    },
  })
  async failing() {}
}

const orders = new Orders();

test('a function gives the key for the arguments of a call', async () => {
  await orders.place({ customer: 'ann' });
  await orders.place({ customer: 'bob' });
  await expect(orders.place({ customer: 'ann' })).rejects.toThrow(/countLimit:Orders.place/);
});

test('one key for all methods of a prefix is one count', async () => {
  await orders.list();
  await expect(orders.find()).rejects.toThrow(/catalogue/);
});

test('a function that gives no key is a mistake of the program, not of the request', async () => {
  await expect(orders.named()).rejects.toMatchObject({
    code: 'SLUICE_KEY_RESOLUTION',
    status: 500,
    message: expect.stringMatching(/@Limit on named: the value of the function key is missing \(undefined\)/),
  });
  await expect(orders.named('ann')).resolves.toBeUndefined();
});

test('what the function throws is what the call rejects with', async () => {
  await expect(orders.failing()).rejects.toThrow('no such tenant');
});
