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

test('a key or a key function without a limitType counts by the key', async () => {
  class Mail {
    @CountLimit({ key: '#{address}', period: 60 })
    async send(address: string) {
      return address;
    }

    @Limit({ policy: once, key: (order: { customer: string }) => order.customer })
    async confirm({ customer }: { customer: string }) {
      return customer;
    }
  }
  const mail = new Mail();
  await mail.send('ann');
  await expect(mail.send('bob')).resolves.toBe('bob');
  await expect(mail.send('ann')).rejects.toMatchObject({ status: 429 });
  await mail.confirm({ customer: 'ann' });
  await expect(mail.confirm({ customer: 'bob' })).resolves.toBe('bob');
  await expect(mail.confirm({ customer: 'ann' })).rejects.toMatchObject({ status: 429 });
});

test('a key function returns the key from the arguments of a call', async () => {
  await orders.place({ customer: 'ann' });
  await orders.place({ customer: 'bob' });
  await expect(orders.place({ customer: 'ann' })).rejects.toMatchObject({
    decision: { name: expect.stringContaining('countLimit:Orders.place') },
  });
});

test('methods with one prefix and one key share one count', async () => {
  await orders.list();
  await expect(orders.find()).rejects.toThrow(/catalogue/);
});

test('a key function without a valid result is a server error (500)', async () => {
  await expect(orders.named()).rejects.toMatchObject({
    code: 'SLUICE_KEY_RESOLUTION',
    status: 500,
    message: expect.stringMatching(
      /@Limit on named: the result of the key function is missing \(undefined\)/,
    ),
  });
  await expect(orders.named('ann')).resolves.toBeUndefined();
});

test('the call rejects with the error that the key function throws', async () => {
  await expect(orders.failing()).rejects.toThrow('no such tenant');
});
