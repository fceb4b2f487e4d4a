import { fixedWindow, ManualClock, memoryStore, RateLimiter } from '@sluice/core';
import { Gateway } from '../src/gateway.js';
import { gatewayLimiter } from '../src/gateway-limiter.js';
import { type Outcome, PaymentClient } from '../src/payment-client.js';
import { work } from '../src/workers.js';

// The trial of `processes.deep.test.ts` at full length, with a simulated clock.
const SECOND = 1_000_000;
const CALLS = 500;

async function trial(way: 'payNow' | 'pay') {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const gateway = new Gateway(5, SECOND);
  const processes = [1, 2, 3, 4].map(() => {
    const sent: string[] = [];
    const arrived: string[] = [];
    const client = new PaymentClient(gatewayLimiter(store, '1s'), async (order) => {
      arrived.push(order);
      return gateway.arrive(clock.now()) ? 'paid' : 'refused by the gateway';
    });
    const done = work({ workers: 25, calls: 5, pause: 0 }, async (order) => {
      sent.push(order);
      const outcome = await client[way](order);
      if (way === 'payNow') await clock.sleep(0.9 * SECOND);
      return outcome;
    });
    return { sent, arrived, done };
  });
  await clock.advance('200s');
  const outcomes = (await Promise.all(processes.map(({ done }) => done))).flat();
  await store.close();
  const count = (outcome: Outcome) => outcomes.filter((other) => other === outcome).length;
  return { gateway, processes, count };
}

test('with consume the limiter denies some calls, and the gateway refuses none', async () => {
  const { gateway, count } = await trial('payNow');
  expect(gateway.refused).toBe(0);
  // All workers call at 0, 0.9, 1.8, 2.7 and 3.6 s. At 0.9 and at 2.7 s the second is not over.
  expect([count('paid'), count('denied by the limiter')]).toEqual([15, CALLS - 15]);
});

test('with acquire all calls arrive in order, in the shortest possible time', async () => {
  const { gateway, processes, count } = await trial('pay');
  expect(count('paid')).toBe(CALLS);
  expect([gateway.arrivals.length, gateway.refused]).toEqual([CALLS, 0]);
  for (const { sent, arrived } of processes) expect(arrived).toEqual(sent);

  const moments = gateway.arrivals.map(({ moment }) => moment);
  const ideal = 99.8 * SECOND; // 499 intervals of a fifth of a second
  expect(Math.abs(moments.at(-1)! - moments[0]! - ideal) / ideal).toBeLessThan(0.02);
});

test('a fixed window lets calls on both sides of its edge arrive within one second', async () => {
  const clock = new ManualClock();
  const policy = fixedWindow({ limit: 5, window: '1s', align: 'clock' });
  const limiter = new RateLimiter({ name: 'payments', policy, store: memoryStore({ clock }) });
  const gateway = new Gateway(5, SECOND);
  const client = new PaymentClient(limiter, async () =>
    gateway.arrive(clock.now()) ? 'paid' : 'refused by the gateway',
  );
  const burst = () => work({ workers: 8, calls: 1, pause: 0 }, (order) => client.payNow(order));
  await clock.advance('900ms');
  const before = await burst();
  await clock.advance('100ms');
  const after = await burst();
  expect([before[4], after[0], gateway.refused]).toEqual(['paid', 'refused by the gateway', 5]);
});

test('the gateway refuses the sixth call in any second, in any order of calls', () => {
  const gateway = new Gateway(5, 10);
  expect([0, 2, 4, 6, 8].map((moment) => gateway.arrive(moment))).toEqual([true, true, true, true, true]);
  expect([9, -1, 5, 10, -2, 11, 12].map((moment) => gateway.arrive(moment))).toEqual([
    false,
    false,
    false,
    true,
    true,
    false,
    true,
  ]);
  expect(gateway.refused).toBe(4);
});
