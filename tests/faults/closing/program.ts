import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  RateLimiter,
  redisStore,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import { expectOutages } from '../../support/expect-outages.js';
import type { Closed, Order } from './messages.js';

// A program with waits of every kind. On an order it closes everything that it opened, and should then end.

const store = expectOutages(redisStore(process.argv[2]!));
const rate = new RateLimiter({ name: 'rate', policy: fixedWindow({ limit: 1, window: '1h' }), store });
const slots = new RateLimiter({ name: 'slots', policy: concurrency({ limit: 1 }), store });
const both = new CombinedLimiter({ rate, slots });
const shared = new SharedLimiter({ name: 'shared', store });
const limiters = [rate, slots, both, shared];

const calls = new Set<Promise<unknown>>();
const outcomes: Record<string, number> = {};

function call(work: Promise<unknown>): void {
  const settled = work.then(
    () => 'done',
    (error: Error) => error.name,
  );
  const counted = settled.then((name) => {
    calls.delete(counted);
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  });
  calls.add(counted);
}

/** The first call takes all permits, and the others wait for them: for an hour, or until they are released. */
function waits(key: string): void {
  for (let place = 0; place < 3; place += 1) {
    call(rate.acquire(key));
    call(slots.acquire(key));
    call(slots.schedule(`${key}, scheduled`, ({ signal }) => once(signal, 'abort')));
    call(both.acquire({ rate: `${key}, both`, slots: `${key}, both` }));
    call(shared.acquire());
  }
}

async function degraded(): Promise<void> {
  let out = false;
  store.on('degraded', () => {
    out = true;
  });
  while (!out) {
    await rate.consume('is it there?');
    await sleep(1);
  }
}

async function close(stores: 'first' | 'last'): Promise<void> {
  if (stores === 'first') await store.close();
  await Promise.all(limiters.map((limiter) => limiter.close()));
  if (stores === 'last') await store.close();
}

process.on('message', async (order: Order) => {
  if (order.order === 'wait') {
    // A busy machine may take longer than a deadline.
    for (let set = false; !set; ) {
      set = await shared.setRate({ rate: 1, interval: '1h' }).then(
        () => true,
        () => sleep(20, false),
      );
    }
    waits('before');
    await sleep(300); // until they wait in the queue
    process.send!('waiting');
    return;
  }
  if (order.known) await degraded();
  waits('meanwhile');
  await sleep(order.known ? 300 : 20);
  await close(order.stores);
  await sleep(500);
  const closed: Closed = { outcomes, unsettled: calls.size, resources: process.getActiveResourcesInfo() };
  process.send!(closed);
  process.disconnect();
});
process.send!('ready');
