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

test('the same object when permits are held and when they are released; renewals publish nothing', async () => {
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

test('denied calls, calls that cost nothing and other algorithms hold nothing', async () => {
  const { limiter, memory, name } = setUp();
  await limiter.consume('k', { cost: 0 });
  await limiter.consume('k', { cost: 2 });
  const window = new RateLimiter({ name, policy: fixedWindow({ limit: 1, window: '1h' }), store: memory });
  await window.consume('k');
  expect(messages.log).toEqual([]);
});

test('a call that waited for several permits holds each once', async () => {
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

test('lost: the store does not renew it any more, was out for a lease, or the limiter is closed', async () => {
  const gone = setUp(3);
  const held = await gone.limiter.consume('k');
  await gone.limiter.reset('k');
  await gone.clock.advance('10m');
  expect(messages.log).toEqual(['lease held', 'lease lost']);

  const again = await gone.limiter.consume('k');
  gone.fail();
  await gone.clock.advance('2h');
  expect(messages.log.slice(2)).toEqual(['lease held', 'lease lost']);
  expect(await gone.limiter.release(again).catch(isStoreUnavailableError)).toBe(true);
  expect(messages.log).toHaveLength(4);

  gone.mend();
  const last = await gone.limiter.consume('k');
  await gone.limiter.close();
  expect(messages.log.slice(4)).toEqual(['lease held', 'lease lost']);
  expect([held, again, last]).toHaveLength(3); // what is garbage is not renewed
});

test('abandoned: the decision was garbage collected', async () => {
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

test('a subscriber that comes later gets no end without a beginning, if it is the only one', async () => {
  const { limiter } = setUp();
  messages.stop();
  const held = await limiter.consume('k');
  messages = new Messages(limiter.name, { channels: ['sluice:lease'] });
  await limiter.release(held);
  expect(messages.log).toEqual([]);
});
