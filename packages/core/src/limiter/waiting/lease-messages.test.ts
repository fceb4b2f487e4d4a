import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../../../../../tests/support/eventually.js';
import { farStore } from '../../../../../tests/support/far-store.js';
import { Messages } from '../../../../../tests/support/messages.js';
import { uniqueName } from '../../../../../tests/support/redis-url.js';
import { concurrency } from '../../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../../algorithms/fixed-window/fixed-window.js';
import { isStoreUnavailableError } from '../../errors.js';
import { RateLimiter } from '../rate-limiter.js';

const slots = (limit: number) => concurrency({ limit, lease: '40m' });
let messages: Messages;
afterEach(() => messages.stop());

function setUp(limit = 1) {
  const far = farStore({ remote: false });
  const name = uniqueName('demo');
  messages = new Messages(name, { channels: ['sluice:lease'] });
  return { ...far, name, limiter: new RateLimiter({ name, policy: slots(limit), store: far.store }) };
}

test('a lease publishes one object when it is held and when it is released, and nothing for renewals', async () => {
  const { clock, limiter, name } = setUp(3);
  const held = await limiter.consume('ann', { cost: 2 });
  const [message] = messages.on('sluice:lease');
  const fields = { limiter: name, policy: name, key: 'ann', cost: 2, startedAt: expect.any(Number) };
  expect(message).toEqual({ ...fields, state: 'held', endedAt: undefined });
  await clock.advance('2h');
  expect(messages.log).toEqual(['lease held']);
  await limiter.release(held);
  await limiter.release(held);
  expect(messages.log).toEqual(['lease held', 'lease released']);
  expect(messages.on('sluice:lease')[1]).toBe(message);
  expect(message).toEqual({ ...fields, state: 'released', endedAt: expect.any(Number) });
});

test('denied calls, calls of cost 0 and other algorithms publish no lease', async () => {
  const { limiter, memory, name } = setUp();
  await limiter.consume('k', { cost: 0 });
  await limiter.consume('k', { cost: 2 });
  const window = new RateLimiter({ name, policy: fixedWindow({ limit: 1, window: '1h' }), store: memory });
  await window.consume('k');
  expect(messages.log).toEqual([]);
});

test('a call that waited for several permits holds each of them once', async () => {
  const { clock, memory, name } = setUp();
  const policies = { one: slots(1), two: slots(1) };
  const limiter = new RateLimiter({ name, policies, store: memory });
  const held = await limiter.acquire('k');
  const waiting = limiter.acquire('k');
  await clock.advance('1s');
  await limiter.release(held);
  await clock.advance('10s');
  await limiter.release(await waiting);
  const states = messages.on('sluice:lease').map(({ policy }, i) => `${policy} ${messages.log[i]!.slice(6)}`);
  const ended = ['one held', 'two held', 'one released', 'two released'];
  expect(states).toEqual([...ended, ...ended]);
  expect(new Set(messages.on('sluice:lease')).size).toBe(4);
});

test('a call that waits for another policy holds no lease of one that it takes nothing of', async () => {
  const { clock, memory, name } = setUp();
  const policies = { slot: slots(1), rate: fixedWindow({ limit: 1, window: '1h' }) };
  const limiter = new RateLimiter({ name, policies, store: memory });
  await limiter.consume('k', { cost: { slot: 0 } });
  const waiting = limiter.acquire('k', { cost: { slot: 0 } });
  await clock.advance('1h');
  await waiting;
  expect(messages.log).toEqual([]);
});

test('a lease is lost if it was reset, the store was out for a whole lease, or the limiter closed', async () => {
  const demo = setUp(3);
  const held = await demo.limiter.consume('k');
  await demo.limiter.reset('k');
  await demo.clock.advance('10m');
  expect(messages.log).toEqual(['lease held', 'lease lost']);

  const again = await demo.limiter.consume('k');
  demo.fail();
  await demo.clock.advance('2h');
  expect(messages.log.slice(2)).toEqual(['lease held', 'lease lost']);
  expect(await demo.limiter.release(again).catch(isStoreUnavailableError)).toBe(true);
  expect(messages.log).toHaveLength(4);

  demo.mend();
  const last = await demo.limiter.consume('k');
  await demo.limiter.close();
  expect(messages.log.slice(4)).toEqual(['lease held', 'lease lost']);
  expect([held, again, last]).toHaveLength(3); // garbage-collected decisions are not renewed
});

test('a lease is abandoned if its decision was garbage collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { clock, limiter, calls } = setUp();
  await limiter.consume('k');
  calls.length = 0; // the store of this test keeps its calls
  await eventually(async () => {
    collect();
    await clock.advance('10m');
    return messages.log.length > 1;
  });
  expect(messages.log).toEqual(['lease held', 'lease abandoned']);
});

test('a later subscriber receives no end of a lease whose beginning it missed', async () => {
  const { limiter } = setUp();
  messages.stop();
  const held = await limiter.consume('k');
  messages = new Messages(limiter.name, { channels: ['sluice:lease'] });
  await limiter.release(held);
  expect(messages.log).toEqual([]);
});
