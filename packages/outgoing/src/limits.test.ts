import { fixedWindow, isRateLimitExceededError, slidingLog, tokenBucket } from '@sluice/core';
import { ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { warned } from '../../../tests/support/warned.js';
import { anthropicHeaders, openaiHeaders, type Upstream } from './index.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

const times = <T>(count: number, work: (i: number) => T) => Array.from({ length: count }, (_, i) => work(i));
const perSecond = (limit: number) => ({ requests: slidingLog({ limit, window: '1s' }) });

test('calls of all processes wait for the limits, and in no window are there more', async () => {
  const clients = times(4, () => up.client({ limits: perSecond(5) }));
  const calls = times(30, (i) => clients[i % 4]!.fetch('/a'));
  await up.clock.advance('10s');
  await Promise.all(calls);
  const at = up.times;
  expect(at).toHaveLength(30);
  for (let i = 5; i < at.length; i += 1) expect(at[i]! - at[i - 5]!).toBeGreaterThanOrEqual(1000);
  expect(at.at(-1)).toBeLessThan(5500);
});

test('a call whose permits do not come before its timeout rejects at once, and takes nothing', async () => {
  const client = up.client({ limits: { requests: slidingLog({ limit: 1, window: '1m' }) } });
  await client.fetch('/a');
  expect(isRateLimitExceededError(await rejection(client.fetch('/a')))).toBe(true);
  expect(up.log).toHaveLength(1);
});

test('a signal ends the wait for permits at once, also behind many other calls', async () => {
  const client = up.client({ limits: perSecond(1), timeout: '2m' });
  const abort = new AbortController();
  const calls = times(20, () => client.fetch('/a'));
  const behind = times(20, () => rejection(client.fetch('/b', { signal: abort.signal })));
  await up.clock.advance(1);
  abort.abort(new Error('enough'));
  expect((await Promise.all(behind)).map(String)).toEqual(Array(20).fill('Error: enough'));
  await up.clock.advance('40s');
  await Promise.all(calls);
  expect(up.log).toHaveLength(20);
});

test('a signal that is aborted already sends nothing', async () => {
  const client = up.client({ limits: perSecond(1) });
  const error = await rejection(client.fetch('/a', { signal: AbortSignal.abort(new Error('before')) }));
  expect(String(error)).toBe('Error: before');
  expect(up.log).toEqual([]);
});

test('waiting calls of a process with a higher priority go first', async () => {
  const client = up.client({
    limits: perSecond(1),
    timeout: '1m',
    priority: ({ url }) => Number(url.searchParams.get('priority')),
  });
  const calls = times(20, (i) => client.fetch(`/${i < 10 ? 'low' : 'high'}?priority=${i < 10 ? 0 : 5}`));
  await up.clock.advance('30s');
  await Promise.all(calls);
  const order = up.log.map(({ path }) => path);
  // Calls that had booked before the others came are not overtaken.
  expect(
    order.slice(0, order.lastIndexOf('/high')).filter((path) => path === '/low').length,
  ).toBeLessThanOrEqual(6);
  expect(order.slice(-4)).toEqual(Array(4).fill('/low'));
});

test('the cost of a call is estimated before it, and settled by its response', async () => {
  up.answer = () => Response.json({ usage: 20 });
  const client = up.client({
    limits: { tokens: tokenBucket({ capacity: 100, refill: 1, every: '1h' }) },
    timeout: 0,
    cost: () => ({ tokens: 50 }),
    settle: async (response) => ({ tokens: ((await response.json()) as { usage: number }).usage }),
  });
  const bodies = [];
  for (let i = 0; i < 3; i += 1) {
    const response = await client.fetch('/a');
    bodies.push(await response.json());
    await new Promise((done) => setTimeout(done, 5));
  }
  expect(bodies).toEqual([{ usage: 20 }, { usage: 20 }, { usage: 20 }]);
  // By estimates the third did not fit. 60 of 100 were used in truth, so the fourth does not.
  expect(isRateLimitExceededError(await rejection(client.fetch('/a')))).toBe(true);
  expect(up.log).toHaveLength(3);
});

describe('withCost', () => {
  const limits = { tokens: tokenBucket({ capacity: 100, refill: 1, every: '1h' }) };
  const fits = async (client: Upstream, tokens: number) =>
    !isRateLimitExceededError(
      await client.withCost({ tokens }, Promise.resolve(undefined), () =>
        client.fetch('/a').then(
          () => 0,
          (error) => error,
        ),
      ),
    );

  test('gives the calls within it their cost and their settlement, in place of the options', async () => {
    const calls: string[] = [];
    const client = up.client({
      ...{ limits, timeout: 0 },
      cost: () => {
        calls.push('cost');
        return { tokens: 1 };
      },
      settle: () => {
        calls.push('settle');
        return undefined;
      },
    });
    const actual = Promise.resolve({ tokens: 30 });
    await client.withCost({ tokens: 80 }, actual, () => client.fetch('/a'));
    await client.withCost({ tokens: 60 }, actual, () =>
      client.run({ url: '/b' }, async () => new Response('ok')),
    );
    await new Promise(setImmediate);
    expect([calls, await fits(client, 41), await fits(client, 40)]).toEqual([[], false, true]);
    expect(isRateLimitExceededError(await rejection(client.fetch('/c')))).toBe(true);
    expect(calls).toEqual(['cost']);
  });

  test.each<[string, object]>([
    ['with limits', { name: 'with-limits', limits }],
    ['without limits', { name: 'no-limits' }],
  ])('warns if what the call took is a promise that rejects, %s', async (_, options) => {
    const client = up.client(options);
    const warnings = await warned(async () => {
      await client.withCost({ tokens: 1 }, Promise.reject(new Error('no price')), () => client.fetch('/a'));
      await new Promise(setImmediate);
    });
    expect(warnings).toEqual([expect.stringMatching(/is not known.*: Error: no price$/)]);
  });

  test('says when a call is sent, and not while it waits', async () => {
    const client = up.client({ limits, timeout: '2h' });
    const events: string[] = [];
    up.answer = () => {
      events.push('received');
      return new Response('ok');
    };
    const call = (tokens: number, signal?: AbortSignal) =>
      client.withCost(
        { tokens },
        Promise.resolve(undefined),
        () => client.fetch('/a', { signal: signal ?? null }),
        () => events.push('sent'),
      );
    await call(100);
    expect(events).toEqual(['sent', 'received']);
    const abort = new AbortController();
    const waiting = rejection(call(1, abort.signal));
    await up.clock.advance('1s');
    abort.abort(new Error('enough'));
    expect(String(await waiting)).toBe('Error: enough');
    expect(events).toEqual(['sent', 'received']);
    expect(() => client.withCost(1, Promise.resolve(1), () => {}, 5 as never)).toThrow(
      /withCost: sent must be a function/,
    );
  });

  test('says when an attempt has failed that is sent again', async () => {
    const client = up.client({ retry: { attempts: 2 } });
    const events: (string | boolean)[] = [];
    up.answer = () => {
      events.push('received');
      return new Response('', { status: events.length === 2 ? 503 : 200 });
    };
    const work = () => client.fetch('/a');
    const call = client.withCost(undefined, Promise.resolve(undefined), work, (isSent) =>
      events.push(isSent),
    );
    await up.clock.advance('10s');
    expect((await call).status).toBe(200);
    expect(events).toEqual([true, 'received', false, true, 'received']);
  });

  test('leaves the cost and its settlement to the options if it gives none', async () => {
    const client = up.client({
      ...{ limits, timeout: 0 },
      cost: () => ({ tokens: 80 }),
      settle: () => ({ tokens: 30 }),
    });
    let sent = 0;
    const count = () => {
      sent += 1;
    };
    await client.withCost(undefined, Promise.resolve({ tokens: 5 }), () => client.fetch('/a'), count);
    await new Promise(setImmediate);
    expect([sent, await fits(client, 71), await fits(client, 70)]).toEqual([1, false, true]);
  });

  test('refuses an actual cost that is no promise, before a call is sent', () => {
    const client = up.client({ limits });
    const call = () => client.withCost({ tokens: 1 }, undefined as never, () => client.fetch('/a'));
    expect(call).toThrow('withCost: actual must be a promise, not undefined');
    expect(up.log).toEqual([]);
  });

  test('leaves the estimate if what the call took is not known, and takes nothing for a call that is not sent', async () => {
    const client = up.client({ limits, timeout: 0 });
    const unknown = Promise.resolve(undefined);
    const denied = client.withCost({ tokens: 101 }, Promise.resolve({ tokens: 1 }), () => client.fetch('/a'));
    expect(isRateLimitExceededError(await rejection(denied))).toBe(true);
    await client.withCost({ tokens: 80 }, unknown, () => client.fetch('/a'));
    expect([await fits(client, 21), await fits(client, 20), up.log.length]).toEqual([false, true, 2]);
  });
});

test('at most `concurrency` calls run at once, until their bodies have been read or dropped', async () => {
  const clients = times(2, () => up.client({ concurrency: 2, timeout: '5s' }));
  const [one, two] = await Promise.all(clients.map((client) => client.fetch('/a')));
  const third = clients[0]!.fetch('/b');
  await up.clock.advance('1s');
  expect(up.log).toHaveLength(2);
  expect(await one!.text()).toBe('ok');
  await up.clock.advance('1s');
  expect((await third).status).toBe(200);
  const fourth = clients[1]!.fetch('/c');
  await two!.body!.cancel();
  await up.clock.advance('1s');
  expect((await fourth).url).toBe((await third).url);
  await Promise.all([(await third).text(), (await fourth).text()]);
});

test('use by others of the account lowers our belief, and no header raises it', async () => {
  let remaining = 100;
  up.answer = () => new Response('ok', { headers: { ratelimit: `"p";r=${remaining};t=1` } });
  const limits = { requests: tokenBucket({ capacity: 10, refill: 1, every: '1h' }) };
  const client = up.client({ limits, timeout: 0 });
  await client.fetch('/a'); // 9 left, and the upstream says 100
  remaining = 3;
  await client.fetch('/a'); // 8 left, and the upstream says 3
  remaining = 50;
  for (let i = 0; i < 3; i += 1) await client.fetch('/a');
  expect(isRateLimitExceededError(await rejection(client.fetch('/a')))).toBe(true);
  expect(up.log).toHaveLength(5);
});

describe('a smaller limit that a response states', () => {
  const hour = { requests: fixedWindow({ limit: 100, window: '1h' }) };
  const stating = (headers: Record<string, string>) => {
    up.answer = () => new Response('ok', { headers });
  };
  /** How many of these calls pass now. */
  const passing = async (client: Upstream, count: number) => {
    const before = up.log.length;
    for (let i = 0; i < count; i += 1) await rejection(client.fetch('/a'));
    return up.log.length - before;
  };

  test('is the limit of all processes, and its rest is not taken twice', async () => {
    const [one, other] = times(2, () => up.client({ limits: hour, timeout: 0 }));
    stating({ 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' });
    await one!.fetch('/a');
    stating({});
    expect(await passing(other!, 20)).toBe(9);
  });

  test('is believed for 15 minutes after the last response that stated it', async () => {
    const client = up.client({ limits: { requests: slidingLog({ limit: 4, window: '1m' }) }, timeout: 0 });
    stating({ 'x-ratelimit-limit': '2' });
    for (let minutes = 0; minutes < 30; minutes += 1) {
      expect(await passing(client, 3)).toBe(2);
      await up.clock.advance('61s');
    }
    stating({});
    await up.clock.advance('16m');
    expect(await passing(client, 5)).toBe(4);
  });

  test('of a bucket also lowers its rate', async () => {
    const limits = { tokens: tokenBucket({ capacity: 60, refill: 60, every: '1m' }) };
    const client = up.client({ limits, timeout: 0, reads: [openaiHeaders] });
    stating({ 'x-ratelimit-limit-tokens': '30' });
    await client.fetch('/a');
    stating({});
    expect(await passing(client, 60)).toBe(29);
    await up.clock.advance('20s');
    expect(await passing(client, 60)).toBe(10);
  });

  test.each([
    [
      'of a shorter window, which is a burst',
      { ratelimit: '"b";r=4;t=1', 'ratelimit-policy': '"b";q=5;w=1' },
    ],
    ['of 0', { 'x-ratelimit-limit': '0' }],
    ['that is negative', { 'x-ratelimit-limit': '-5' }],
    ['of another budget', { 'x-ratelimit-limit-tokens': '5' }],
  ])('%s is not ours', async (_, headers) => {
    const client = up.client({ limits: hour, timeout: 0 });
    stating(headers);
    await client.fetch('/a');
    stating({});
    const left = 'ratelimit' in headers ? 4 : 20;
    expect(await passing(client, left)).toBe(left);
  });

  test('of another process, which is smaller still, stays', async () => {
    const [one, other] = times(2, () => up.client({ limits: hour, timeout: 0 }));
    up.answer = async ({ path }) => {
      await up.clock.sleep(path === '/early' ? 2_000_000 : 1_000_000);
      return new Response('ok', { headers: { 'x-ratelimit-limit': path === '/early' ? '50' : '5' } });
    };
    const calls = [one!.fetch('/early'), other!.fetch('/late')];
    await up.clock.advance('3s');
    await Promise.all(calls);
    stating({});
    expect(await passing(one!, 20)).toBe(3);
  });
});

test.each<[string, object, number]>([
  ['less than the rounding below ours lowers nothing', { cost: 500, remaining: 9000 }, 9500],
  ['more than that lowers by what is beyond it', { cost: 500, remaining: 7000 }, 8000],
  ['what others took meanwhile is ours already', { cost: 500, others: 2000, remaining: 7000 }, 7500],
  ['what came back meanwhile is not taken', { cost: 5000, refill: 3000, remaining: 4500 }, 8000],
])('Anthropic rounds tokens to thousands: %s', async (_, given, left) => {
  const { cost, others, refill, remaining } = { cost: 0, others: 0, refill: 1, remaining: 0, ...given };
  const limits = { tokens: tokenBucket({ capacity: 10_000, refill, every: refill > 1 ? '1s' : '1h' }) };
  const [one, other] = times(2, () => up.client({ limits, timeout: 0, reads: [anthropicHeaders] }));
  up.answer = async ({ path }) => {
    if (path !== '/a') return new Response('ok');
    await up.clock.sleep(1_000_000);
    return new Response('ok', { headers: { 'anthropic-ratelimit-tokens-remaining': String(remaining) } });
  };
  const call = (client: Upstream, path: string, tokens: number) =>
    client.withCost({ tokens }, Promise.resolve(undefined), () => rejection(client.fetch(path)));
  const first = call(one!, '/a', cost);
  await up.clock.advance(1);
  if (others > 0) await call(other!, '/b', others);
  await up.clock.advance('999ms');
  await first;
  expect(isRateLimitExceededError(await call(one!, '/b', left + 10))).toBe(true);
  expect(await call(one!, '/b', left)).toBeUndefined();
});

test('calls of this process that were sent after a response was made are not taken twice', async () => {
  let used = 0;
  up.latency = 100;
  up.answer = () => {
    used += 1;
    return new Response('ok', { headers: { ratelimit: `"p";r=${10 - used};t=1` } });
  };
  const client = up.client({
    limits: { requests: tokenBucket({ capacity: 10, refill: 1, every: '1h' }) },
    timeout: 0,
  });
  const calls = times(10, () => client.fetch('/a'));
  await up.clock.advance('1s');
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(10).fill(200));
});

test('a limit that is exhausted while a pause begins gives its permits back', async () => {
  const client = up.client({
    limits: { requests: tokenBucket({ capacity: 2, refill: 1, every: '1h' }) },
    timeout: 0,
    retry: false,
  });
  up.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '1' } });
  await client.fetch('/a');
  await rejection(client.fetch('/a'));
  await up.clock.advance('2s');
  up.answer = () => new Response('ok');
  expect((await client.fetch('/a')).status).toBe(200);
});

test.each<[string, object]>([
  ['origin', { origin: 'api.example.com' }],
  ['origin', { origin: 'https://api.example.com/v1' }],
  ['name', { name: 'a b' }],
  ['concurrency', { concurrency: 0 }],
  ['limits', { limits: [] }],
  ['reads', { reads: 'github' }],
  ['timeout', { timeout: 'soon' }],
  ['maxPause', { maxPause: 0 }],
  ['attempts', { retry: { attempts: 0 } }],
  ['statuses', { retry: { statuses: [200] } }],
  ['budget', { retry: { budget: { tokens: 1 } } }],
  ['account', { account: 'me' }],
  ['origin', { baseUrl: 'x' }],
])('an invalid %s fails when the upstream is made, and the error names it', (option, options) => {
  expect(() => up.client(options)).toThrow(new RegExp(option));
});
