import { fixedWindow, redisStore } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { eventually } from '../../../tests/support/eventually.js';
import { redisUrl } from '../../../tests/support/redis-url.js';
import { createSluice, Limit, SLUICE, type Sluice } from './index.js';

const policy = fixedWindow({ limit: 9, window: '1m' });

class PublishedOrders {
  readonly [SLUICE]: Sluice;

  constructor(sluice: Sluice) {
    this[SLUICE] = sluice;
  }

  @Limit({ policy, limitType: 'CUSTOM', key: '#{order.customer}' })
  async place(order: { customer: string }) {
    return order;
  }

  @Limit({ policy, limitType: 'CUSTOM', key: () => 'all' })
  async list() {}

  @Limit({ policy, limitType: 'METHOD' })
  async find() {}
}

test('a process publishes the key of each limited method', async () => {
  const store = redisStore(redisUrl());
  const orders = new PublishedOrders(createSluice({ store, deadline: '10s' }));
  try {
    await Promise.all([orders.place({ customer: 'ann' }), orders.list(), orders.find()]);
    const kinds = async () => {
      const own = (await readDefinitions(store)).find(({ process }) => process === store.fleet?.process);
      return own?.limiters.length === 3 && own.limiters.map(({ name, key }) => [name, key]);
    };
    expect((await eventually(kinds)).sort()).toEqual([
      ['limit:PublishedOrders.find', 'METHOD'],
      ['limit:PublishedOrders.list', 'a function'],
      ['limit:PublishedOrders.place', '#{order.customer}'],
    ]);
  } finally {
    await orders[SLUICE].close();
    await store.close();
  }
});
