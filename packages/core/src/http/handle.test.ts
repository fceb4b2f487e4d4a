import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { RateLimiter } from '../limiter.js';
import { memoryStore } from '../stores/memory-store.js';
import { limitRequests } from './handle.js';
import type { RequestView } from './request-view.js';

const policy = fixedWindow({ limit: 1, window: '10s' });
const limit = (options: object) => limitRequests('rateLimit', options as never);
const request: RequestView = {
  ip: '192.0.2.1',
  user: { id: 7 },
  method: 'GET',
  path: '/',
  params: {},
  query: {},
  body: undefined,
  headers: { 'x-tenant': 'acme' },
};

test.each([
  [{ polcy: policy }, /rateLimit has no option 'polcy'; its options are limiter, name, policy/],
  [{}, /rateLimit needs a policy/],
  [{ policy: 5 }, /not 5/],
  [{ policy, store: memoryStore() }, /needs a name/],
  [{ policy, limiter: new RateLimiter({ policy }) }, /policy belongs to the limiter/],
  [{ limiter: {} }, /limiter must be a RateLimiter, not an object/],
  [{ policy, limitType: 'ip' }, /one of IP, USER, METHOD, CUSTOM, not "ip"/],
  [{ policy, limitType: 'CUSTOM' }, /CUSTOM needs a key/],
  [{ policy, limitType: 'IP', key: '#{user.id}' }, /has no effect with limitType IP/],
  [{ policy, key: '#{usr.id}' }, /uses 'usr', which requests do not have; begin with one of ip, user/],
  [{ policy, key: '#{user.id' }, /#\{/],
  [{ policy, key: '#{user.id}', keyGenerator: () => 'x' }, /one of key, keyGenerator/],
  [{ policy, keyGenerator: '#{ip}' }, /keyGenerator must be a function, not "#\{ip\}"/],
  [{ policy, skip: true }, /skip must be a function, not true/],
  [{ policy, user: 'id' }, /user must be a function, not "id"/],
  [{ policy, cost: -1 }, /cost must be a whole number from 0 to \d+, not -1/],
  [{ policy, ipv6Subnet: 129 }, /ipv6Subnet must be a whole number from 32 to 128, not 129/],
])('refuses %j', (options, message) => expect(() => limit(options)).toThrow(message));

test.each<[object, string]>([
  [{}, '192.0.2.1'],
  [{ limitType: 'USER' }, '7'],
  [{ limitType: 'USER', user: () => 'ann' }, 'ann'],
  [{ limitType: 'METHOD' }, 'all'],
  [{ key: "#{headers['x-tenant']}" }, 'acme'],
  [{ keyGenerator: () => 'made' }, 'made'],
  [{ key: '#{ip}' }, '192.0.2.1'],
])('%j counts by %s', async (options, key) => {
  const { decide, limiter } = limit({ policy, ...options });
  expect(await decide(request)).toMatchObject({ allowed: true });
  expect(await limiter.peek(key)).toMatchObject({ remaining: 0 });
});

test.each([
  [{ ...request, ip: undefined }, {}, 'no client address'],
  [{ ...request, ip: '127.1' }, {}, 'not an IPv4 or IPv6 address'],
  [{ ...request, user: undefined }, { limitType: 'USER' }, 'has no user'],
  [{ ...request, user: {} }, { limitType: 'USER' }, '#{user.id}'],
  [request, { limitType: 'USER', user: () => ({ id: 7 }) }, 'is an object'],
  [request, { keyGenerator: () => ['a'] }, 'is an array'],
])('%#: a request without its key is refused', async (view, options, message) => {
  await expect(limit({ policy, ...options }).decide(view as RequestView)).rejects.toMatchObject({
    code: 'SLUICE_KEY_RESOLUTION',
    status: 400,
    message: expect.stringContaining(message),
  });
});

test('an address in a template is a client: IPv6 by subnet, without its port', async () => {
  const { decide } = limit({ policy, key: '#{ip}|#{method}', ipv6Subnet: 48 });
  const allowed = async (ip: string) => (await decide({ ...request, ip }))?.allowed;
  expect([await allowed('2001:db8::1'), await allowed('2001:db8:0:5::2')]).toEqual([true, false]);
  expect([await allowed('192.0.2.1:80'), await allowed('::ffff:192.0.2.1')]).toEqual([true, false]);
});

test('a cost that a function gives is checked', async () => {
  await expect(limit({ policy, cost: () => Number.NaN }).decide(request)).rejects.toThrow(RangeError);
});

test('closes the limiter that it made, never one that was given', async () => {
  const limiter = new RateLimiter({ policy });
  const given = limit({ limiter });
  await given.close();
  expect(await given.decide(request)).toMatchObject({ allowed: true });
  const made = limit({ policy });
  await made.close();
  await expect(made.decide(request)).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
});
