import {
  concurrency,
  fixedWindow,
  ManualClock,
  memoryStore,
  slidingLog,
  subscribe,
  tokenBucket,
} from '@sluice/core';
import { type RequestView, runWithRequest } from '@sluice/http';
import { failingStore } from '../tests/failing-store.js';
import { CountLimit, configureSluice, Limit, RateLimit } from './index.js';

const bucket = tokenBucket({ capacity: 10, refill: 1, every: '1h' });
const once = fixedWindow({ limit: 1, window: '1m' });

const escalate = { after: 2, within: '1h', block: '10m' } as const;

class Policies {
  @Limit(slidingLog({ limit: 2, window: '1s' }))
  async log() {
    return 'log';
  }

  @Limit({
    policies: {
      perSecond: fixedWindow({ limit: 2, window: '1s' }),
      perMinute: fixedWindow({ limit: 3, window: '1m' }),
    },
  })
  async several() {
    return 'several';
  }

  @Limit({ policy: bucket, cost: 4 })
  async four() {
    return 'four';
  }

  @Limit({ policy: bucket, cost: (items: readonly string[]) => items.length })
  async items(items: readonly string[]) {
    return items.join();
  }

  @Limit({
    policies: { calls: bucket, bytes: fixedWindow({ limit: 100, window: '1m' }) },
    cost: (text: string) => ({ bytes: text.length }),
  })
  async bytes(text: string) {
    return text;
  }

  @Limit({ policy: tokenBucket({ capacity: 1, refill: 1, every: '1s' }), timeout: '2s' })
  async waits() {
    return 'waits';
  }

  @Limit({ policy: once, escalate })
  async blocked() {
    return 'limit';
  }

  @CountLimit({ limit: 1, period: 60, escalate })
  async countBlocked() {
    return 'count';
  }

  @RateLimit({ rate: 1 / 60, escalate })
  async rateBlocked() {
    return 'rate';
  }

  @Limit({ policies: { once, twice: fixedWindow({ limit: 2, window: '1h' }) }, notify: { twice: ['50%'] } })
  async notified() {
    return 'limit';
  }

  @CountLimit({ limit: 2, period: 60, notify: ['50%'] })
  async countNotified() {
    return 'count';
  }

  @Limit(concurrency({ limit: 2 }))
  async held(work: Promise<string>) {
    return work;
  }

  @Limit({ policy: concurrency({ limit: 1 }), limitType: 'CUSTOM', key: '#{_tenant}', timeout: '10s' })
  async inLine(_tenant: string, work: Promise<string>) {
    return work;
  }

  @Limit({ policy: once, limitType: 'USER' })
  async byUser() {
    return 'byUser';
  }

  @Limit({ policy: once, limitType: 'CUSTOM', key: '#{phone}', prefix: 'codes:' })
  async sharedA(phone: string) {
    return phone;
  }

  @Limit({ policy: once, limitType: 'CUSTOM', key: '#{phone}', prefix: 'codes:', params: ['phone'] })
  async sharedB(other: string) {
    return other;
  }

  @Limit(once)
  static async atClass() {
    return 'atClass';
  }
}

/** A promise that the test settles. */
function deferred() {
  let resolve!: (value: string) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<string>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

const denied = (name: string) => ({ status: 429, decision: { name } });
let clock: ManualClock;
let demo: Policies;

beforeEach(() => {
  clock = new ManualClock();
  configureSluice({ store: memoryStore({ clock }) });
  demo = new Policies();
});

test('@Limit takes a policy alone', async () => {
  await demo.log();
  await demo.log();
  await expect(demo.log()).rejects.toMatchObject({
    decision: { name: 'limit:Policies.log', limit: 2, window: 1000, retryAfter: 1000 },
  });
  await clock.advance('1s');
  await demo.log();
  await Policies.atClass();
  await expect(Policies.atClass()).rejects.toMatchObject(denied('limit:Policies.atClass'));
});

test('several policies take permits together, or none do', async () => {
  await demo.several();
  await demo.several();
  await expect(demo.several()).rejects.toMatchObject({ decision: { policy: 'perSecond' } });
  await clock.advance('1s');
  await demo.several(); // the third of the minute: the denied call took no permit
  await expect(demo.several()).rejects.toMatchObject({ decision: { policy: 'perMinute' } });
});

test('cost is a number, a function of the arguments, or a number for each policy', async () => {
  await demo.four();
  await demo.four();
  await expect(demo.four()).rejects.toMatchObject({ decision: { cost: 4, remaining: 2 } });
  await demo.items(Array(9).fill('book'));
  await expect(demo.items(['book', 'pen'])).rejects.toMatchObject({ decision: { cost: 2, remaining: 1 } });
  await demo.items(['pen']);
  await demo.items([]);
  await demo.bytes('x'.repeat(99));
  await expect(demo.bytes('xx')).rejects.toMatchObject({ decision: { policy: 'bytes', remaining: 1 } });
  await expect(demo.items({ length: -1 } as never)).rejects.toThrow(RangeError);
});

test.each(['blocked', 'countBlocked', 'rateBlocked'] as const)(
  'escalate blocks after repeated denials: %s',
  async (method) => {
    await demo[method]();
    await expect(demo[method]()).rejects.toMatchObject({ retryAfter: 60_000 });
    await expect(demo[method]()).rejects.toMatchObject({
      retryAfter: 600_000,
      decision: { blockedFor: 600_000 },
    });
    await clock.advance('10m');
    await demo[method]();
  },
);

test.each([
  ['notified', 'limit:Policies.notified', 'twice'],
  ['countNotified', 'countLimit:Policies.countNotified', 'countLimit:Policies.countNotified'],
] as const)('notify publishes the threshold: %s', async (method, limiter, policy) => {
  const messages: unknown[] = [];
  const stop = subscribe('sluice:threshold', (message) => messages.push(message));
  await demo[method]();
  await new Promise(setImmediate);
  stop();
  expect(messages).toEqual([expect.objectContaining({ limiter, policy, threshold: '50%' })]);
});

test('timeout accepts a duration', async () => {
  await demo.waits();
  const [second, third] = [demo.waits(), demo.waits()];
  await expect(demo.waits()).rejects.toMatchObject({ retryAfter: 3000 });
  await clock.advance('2s');
  await expect(Promise.all([second, third])).resolves.toEqual(['waits', 'waits']);
});

test('a permit of concurrency is held until the promise settles', async () => {
  const [first, second] = [deferred(), deferred()];
  const calls = [demo.held(first.promise), demo.held(second.promise)];
  await new Promise(setImmediate); // both run by now
  await expect(demo.held(Promise.resolve('third'))).rejects.toMatchObject({ decision: { limit: 2 } });
  first.resolve('first');
  await expect(calls[0]).resolves.toBe('first');
  await expect(demo.held(Promise.resolve('third'))).resolves.toBe('third');
  second.reject(new Error('of the method'));
  await expect(calls[1]).rejects.toThrow('of the method');
  await clock.advance('1h'); // longer than a lease: a released permit is not renewed
  await expect(Promise.all(['a', 'b'].map((name) => demo.held(Promise.resolve(name))))).resolves.toEqual([
    'a',
    'b',
  ]);
});

test('a call that waits for a held permit gets it on release', async () => {
  const first = deferred();
  const ended: string[] = [];
  const calls = [demo.inLine('t', first.promise), demo.inLine('t', Promise.resolve('second'))];
  for (const call of calls) void call.then((name) => ended.push(name));
  await expect(demo.inLine('other', Promise.resolve('alone'))).resolves.toBe('alone');
  await new Promise(setImmediate);
  expect(ended).toEqual([]);
  first.resolve('first');
  await expect(Promise.all(calls)).resolves.toEqual(['first', 'second']);
});

test('a failed release does not lose the result of the method', async () => {
  const store = failingStore(/refund/, memoryStore({ clock }));
  configureSluice({ store });
  await expect(demo.held(Promise.resolve('held'))).resolves.toBe('held');
  expect(store.operations).toEqual([expect.stringMatching(/^consume/), expect.stringMatching(/^refund/)]);
});

test('limitType, key, prefix and params work as in the other decorators', async () => {
  const by = (id: string) => runWithRequest({ user: { id } } as RequestView, () => demo.byUser());
  await by('1');
  await by('2');
  await expect(by('1')).rejects.toMatchObject(denied('limit:Policies.byUser'));
  await demo.sharedA('138');
  await expect(demo.sharedB('138')).rejects.toMatchObject(denied('codes'));
  await demo.sharedB('139');
});
