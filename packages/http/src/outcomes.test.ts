import { concurrency, fixedWindow, ManualClock, memoryStore, RateLimiter } from '@sluice/core';
import { deciding, OpenResponse } from '../../../tests/support/open-response.js';
import { RequestLimit } from './request-limit.js';
import type { RequestView } from './views.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });
const request: RequestView = {
  ip: '192.0.2.1',
  user: { id: 7 },
  method: 'POST',
  path: '/login',
  params: {},
  query: {},
  body: { account: 'ann' },
  headers: {},
};
const limit = (options: object) => new RequestLimit('rateLimit', options as never) as RequestLimit<[]>;

let warnings: NodeJS.ErrnoException[] = [];
beforeEach(() => {
  warnings = [];
  jest.spyOn(process, 'emitWarning').mockImplementation(((message: string, { code }: { code: string }) => {
    warnings.push(Object.assign(new Error(message), { code }));
  }) as never);
});
afterEach(() => jest.restoreAllMocks());

describe('limits', () => {
  const both = () =>
    limit({
      name: 'login',
      limits: { perIp: { policy: hourly(3) }, perAccount: { policy: hourly(1), key: '#{body.account}' } },
    });

  test('a denial by one limit takes no permit of the others', async () => {
    const login = both();
    const decide = deciding(login);
    expect(await decide(request)).toMatchObject({ allowed: true, name: 'login' });
    expect(await decide(request)).toMatchObject({ allowed: false, policy: 'perAccount' });
    expect(await login.limiters.perIp!.peek('192.0.2.1')).toMatchObject({ remaining: 2 });
    await login.limiters.perAccount!.reset('ann');
    expect(await decide(request)).toMatchObject({ allowed: true });
    await login.close();
    await expect(decide(request)).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
  });

  test('headers name each limit after the whole and itself', async () => {
    const response = new OpenResponse();
    await deciding(both(), response)(request);
    expect(response.headers.RateLimit).toBe('"login.perIp";r=2;t=3600, "login.perAccount";r=0;t=3600');
  });

  test('a missing key takes no permit of any limit', async () => {
    const login = both();
    const account = { ...request, body: {} };
    await expect(deciding(login)(account)).rejects.toMatchObject({ code: 'SLUICE_KEY_RESOLUTION' });
    expect(await login.limiters.perIp!.peek('192.0.2.1')).toMatchObject({ remaining: 3 });
  });

  test('costs and limiters are given by the name of the limit', async () => {
    const login = limit({ limits: { a: { policy: hourly(9) }, b: { policy: hourly(9) } }, cost: { a: 4 } });
    const decision = await deciding(login)(request);
    expect(decision!.policies.map(({ remaining }) => remaining)).toEqual([5, 8]);
    expect(() => login.limiter).toThrow('use limiters.a or limiters.b');
  });
});

test('a dry run that cannot decide lets the request pass, and warns once', async () => {
  const policy = hourly(1);
  const dry = limit({ name: 'shadow', policy, dryRun: true, onLimited: () => {}, key: '#{body.phone}' });
  for (let i = 0; i < 2; i += 1) {
    const passed = { outcome: 'passed', decision: undefined, keys: undefined };
    expect(await dry.handle(request, new OpenResponse())).toMatchObject(passed);
  }
  expect(warnings).toMatchObject([{ code: 'SLUICE_DRY_RUN_FAILED', message: /shadow.*body.phone/ }]);
});

test('permits whose refund fails stay used, and a warning reports it', async () => {
  const store = memoryStore();
  const name = 'refunded';
  const refunding = limit({ name, policy: hourly(2), store, skipFailedRequests: true, limitType: 'METHOD' });
  const response = new OpenResponse();
  await deciding(refunding, response)(request);
  jest.spyOn(store, 'decide').mockImplementationOnce(() => {
    throw new Error('out');
  });
  response.end(500);
  await new Promise(setImmediate);
  expect(warnings).toMatchObject([{ code: 'SLUICE_REFUND_LOST', message: /refunded.*out/ }]);
  expect(await refunding.limiter.peek('all')).toMatchObject({ remaining: 1 });
});

test('if requestWasSuccessful throws, permits stay used and held permits are released', async () => {
  const requestWasSuccessful = () => {
    throw new Error('cannot tell');
  };
  const policies = { atOnce: concurrency({ limit: 1 }), rate: hourly(2) };
  const counted = limit({ policies, skipFailedRequests: true, requestWasSuccessful, limitType: 'METHOD' });
  const response = new OpenResponse();
  await deciding(counted, response)(request);
  response.end();
  await new Promise(setImmediate);
  expect(warnings).toMatchObject([{ code: 'SLUICE_REFUND_LOST', message: /cannot tell/ }]);
  const { policies: left } = await counted.limiter.peek('all');
  expect(left.map(({ remaining }) => remaining)).toEqual([1, 1]);
});

test('a request that has a response, or whose client disconnected, gets no second response', async () => {
  const one = limit({ policy: hourly(1), denyList: ['mallory'], keyGenerator: () => 'k' });
  await deciding(one)(request);
  const answered = new OpenResponse();
  answered.end();
  expect(await one.handle(request, answered)).toMatchObject({ outcome: 'aborted' });
  expect(answered.headers).toEqual({});
  const waiting = limit({ limiter: one.limiter, timeout: '2h', keyGenerator: () => 'k' });
  const left = new OpenResponse();
  const verdict = waiting.handle(request, left);
  await new Promise(setImmediate);
  left.end(0, false);
  expect(await verdict).toMatchObject({ outcome: 'aborted' });
});

test('with throw, the error of a denial has the headers of all limits', async () => {
  const response = new OpenResponse();
  const store = memoryStore({ clock: new ManualClock() });
  const first = limit({ name: 'first', policy: hourly(9), store });
  const second = limit({ name: 'second', policy: hourly(1), store, throw: true, statusCode: 420 });
  await deciding(second)(request);
  await deciding(first, response)(request);
  await expect((async () => second.handle(request, response))()).rejects.toMatchObject({
    status: 420,
    statusCode: 420,
    headers: {
      RateLimit: '"first";r=8;t=3600, "second";r=0;t=3600',
      'RateLimit-Policy': '"first";q=9;w=3600, "second";q=1;w=3600',
      'Retry-After': '3600',
    },
  });
});

test('lists match addresses before the key is resolved, and keys only if they are strings or numbers', async () => {
  const limiter = new RateLimiter({ policy: hourly(1) });
  const key = '#{body.account}';
  const allowing = limit({ limiter, key, allowList: ['192.0.2.0/24', 'admin'] });
  const listed = { ...request, body: {} };
  expect(await deciding(allowing)(listed)).toBeUndefined();
  const elsewhere = { ...request, ip: '198.51.100.1' };
  expect(await deciding(allowing)({ ...elsewhere, body: { account: 'admin' } })).toBeUndefined();
  const keyGenerator = () => ['admin'];
  const generated = limit({ limiter, keyGenerator, allowList: ['admin'] });
  await expect(deciding(generated)(elsewhere)).rejects.toMatchObject({ code: 'SLUICE_KEY_RESOLUTION' });
  await limiter.close();
});

describe('refund', () => {
  test('returns the permits of all limits', async () => {
    const both = limit({ limits: { a: { policy: hourly(1) }, b: { policy: hourly(1) } } });
    const decision = await deciding(both)(request);
    await both.refund(decision!);
    expect(await deciding(both)(request)).toMatchObject({ allowed: true });
    await expect(both.refund({} as never)).rejects.toThrow(TypeError);
  });

  test('returns permits to the policy that decided the request', async () => {
    let policy = concurrency({ limit: 1, lease: '1h' }) as object;
    const each = limit({ policy: () => policy, limitType: 'METHOD' });
    const held = await deciding(each)(request);
    policy = hourly(1);
    await deciding(each)(request);
    await each.refund(held!);
    policy = concurrency({ limit: 1, lease: '1h' });
    expect(await deciding(each)(request)).toMatchObject({ allowed: true });
    await expect(each.refund({} as never)).rejects.toThrow("refund takes a decision of limit 'default'");
    await each.close();
  });
});

test.each([
  [true, true, 0],
  [true, false, 0],
  [false, true, 1],
  [false, false, 1],
])('requestWasSuccessful returns %j with a response complete: %j', async (successful, complete, left) => {
  const requestWasSuccessful = () => successful;
  const counting = limit({ policy: hourly(1), skipFailedRequests: true, requestWasSuccessful });
  const response = new OpenResponse();
  await deciding(counting, response)(request);
  response.end(200, complete);
  await new Promise(setImmediate);
  expect(await counting.limiter.peek('192.0.2.1')).toMatchObject({ remaining: left });
});

test('a cost that rejects before the policy resolves fails only its request', async () => {
  const policy = async () => {
    await new Promise(setImmediate);
    return hourly(1);
  };
  const each = limit({ policy, cost: async () => Promise.reject(new Error('no cost')) });
  await expect(each.handle(request, new OpenResponse())).rejects.toThrow('no cost');
  await each.close();
});

test('an error of `message` fails the request', async () => {
  const throwing = limit({ policy: hourly(1), message: () => Promise.reject(undefined) });
  await deciding(throwing)(request);
  const verdict = await throwing.handle(request, new OpenResponse());
  await expect(verdict.reply()).rejects.toThrow('rateLimit: an option threw undefined');
});

test('a disconnected client without an address is not an error', async () => {
  const left = new OpenResponse();
  left.end(0, false);
  const disconnected = { ...request, ip: undefined };
  expect(await limit({ policy: hourly(1) }).handle(disconnected, left)).toMatchObject({ outcome: 'aborted' });
});
