import { CombinedLimiter, fixedWindow, RateLimiter } from '@sluice/core';
import { readFixedWindow } from './fixed-window-options.js';
import { RequestLimit } from './request-limit.js';

const policy = fixedWindow({ limit: 1, window: '10s' });
const onLimited = () => {};
const rules = { name: 'api', limiters: {}, match: () => undefined, rule: () => undefined };

test.each<[object, RegExp]>([
  [{ limits: {} }, /limits must be an object of limits by name, such as .*, not an object/],
  [{ limits: null }, /limits must be an object of limits by name, .* not null/],
  [{ limits: [policy] }, /limits must be an object of limits by name, .* not an array/],
  [{ limits: { perIp: policy } }, /limits.perIp has no option 'algorithm'/],
  [{ limits: { perIp: {} } }, /'perIp'|policy/],
  [{ limits: { perIp: { policy, cost: 2 } } }, /limits.perIp has no option 'cost'/],
  [
    { limits: { perIp: { policy: () => policy } } },
    /limits.perIp takes a policy or policies, not a function/,
  ],
  [{ limits: { 'per ip': { policy } } }, /not "default.per ip"/],
  [{ limits: { perIp: { policy, key: '#{usr}' } } }, /limits.perIp|uses 'usr'/],
  [{ policy, key: 'body.email' }, /"body.email" has no expression.*'#{body.email}'.*limitType 'METHOD'/],
  [{ policy, key: `\${body.email}` }, /has no expression.*'#{body.email}'/],
  [{ limits: { perMail: { policy, key: 'body.email' } } }, /"body.email" has no expression/],
  [{ limits: { perIp: { policy } }, key: '#{user.id}' }, /pass key in limits/],
  [{ limits: { perIp: { policy } }, policy }, /pass policy or limits, not both/],
  [{ limits: { perIp: { policy } }, store: null }, /store must be .*, not null/],
  [{ limits: { perIp: { policy } }, limiter: new RateLimiter({ policy }) }, /limits belongs to the limiter/],
  [{ limits: { perIp: { policy } }, cost: { perUser: 1 } }, /cost by policy has no option 'perUser'/],
  [
    { rules: 'limits.yaml' },
    /rules must be rules of @sluice\/rules: pass the result of loadRules .*not "limits.yaml"/,
  ],
  [{ rules: Promise.resolve(rules) }, /rules must be .*: await them before: rules: await loadRules/],
  [{ rules: null }, /rules must be rules of @sluice\/rules: .*, not null/],
  [{ rules, policy }, /pass rules or policy, not both/],
  [{ rules, limiter: new RateLimiter({ policy }) }, /pass rules or limiter, not both/],
  [{ rules, limits: { perIp: { policy } } }, /pass rules or limits, not both/],
  [
    { rules, key: '#{user.id}' },
    /key has no effect with rules: each rule has its own: set it in the document/,
  ],
  [{ rules, ipv6Subnet: 56 }, /ipv6Subnet has no effect with rules: each rule has its own/],
  [{ rules, user: () => 'ann' }, /user has no effect with rules: write a key such as '#{user.uid}'/],
  [{ rules, cost: 2 }, /cost has no effect with rules: each rule has its own/],
  [{ rules, name: 'api' }, /name has no effect with rules: all limiters are those of the rules/],
  [{ rules, failurePolicy: 'deny' }, /failurePolicy has no effect with rules: .*: pass it where you create/],
  [{ rules, dryRun: true, timeout: '1s' }, /timeout has no effect with dryRun/],
  [{ policy, allowList: '10.0.0.0/8' }, /allowList.* must be .*, not "10.0.0.0\/8"/],
  [{ policy, allowList: ['10.0.0.0/33'] }, /allowList: "10.0.0.0\/33" is not an address or a range/],
  [{ policy, denyList: [5] }, /denyList: an entry must be a non-empty string/],
  [{ policy, timeout: -1 }, /rateLimit: timeout must be/],
  [{ policy, timeout: 'soon' }, /rateLimit: timeout/],
  [{ policy, onLimited: 'log' }, /onLimited must be a function, not "log"/],
  [{ policy, dryRun: true }, /dryRun has no effect without onLimited/],
  [{ policy, dryRun: 'yes', onLimited }, /dryRun must be true or false, not "yes"/],
  [{ policy, dryRun: true, onLimited, denyList: ['ann'] }, /denyList has no effect with dryRun/],
  [{ policy, dryRun: true, onLimited, timeout: '1s' }, /timeout has no effect with dryRun/],
  [{ policy, statusCode: 200 }, /statusCode must be a whole number from 400 to 599, not 200/],
  [{ policy, statusCode: '429' }, /statusCode must be a whole number/],
  [{ policy, message: 5 }, /message must be text, an object or a function that returns one, not 5/],
  [{ policy, message: null }, /message must be .* not null/],
  [{ policy, throw: 'yes' }, /throw must be true or false, not "yes"/],
  [{ policy, throw: true, message: 'no' }, /message has no effect with throw/],
  [{ policy, skipFailedRequests: 1 }, /skipFailedRequests must be true or false, not 1/],
  [{ policy, skipSuccessfulRequests: null }, /skipSuccessfulRequests must be true or false, not null/],
  [{ policy, requestWasSuccessful: () => true }, /requestWasSuccessful has no effect without/],
  [
    { policy, requestWasSuccessful: true, skipFailedRequests: true },
    /requestWasSuccessful must be a function/,
  ],
  [{ policy, standardHeaders: 'draft-12' }, /standardHeaders must be one of/],
  [{ policy, legacyHeaders: 'yes' }, /rateLimit: legacyHeaders must be true or false, not "yes"/],
  [{ policy, partitionKey: 1 }, /rateLimit: partitionKey must be true or false, not 1/],
  ...[null, 'no', 0, {}].map((validate): [object, RegExp] => [
    { policy, validate },
    /rateLimit: validate must be true or false, not/,
  ]),
  [{ policy, keyGenerator: String, ipv6Subnet: 56 }, /ipv6Subnet has no effect with keyGenerator/],
  [
    { policy, key: '#{user.id}', ipv6Subnet: 56 },
    /ipv6Subnet has no effect with limitType CUSTOM: use 'IP' or a key/,
  ],
])('rejects %j', (options, message) => {
  expect(() => new RequestLimit('rateLimit', options as never)).toThrow(message);
});

test('the error for a CombinedLimiter without keyGenerator names its keys', () => {
  const limiter = new CombinedLimiter({ one: new RateLimiter({ policy }) });
  expect(() => new RequestLimit('rateLimit', { limiter })).toThrow('keyGenerator: (…) => ({ one: … })');
});

describe("a fixed window in a framework's option names", () => {
  const names = { limit: ['limit', 'max'], window: 'windowMs', standard: '1m' } as const;
  const read = (options: object) => readFixedWindow<[number]>('rateLimit', options, names);

  test('becomes a policy', () => {
    expect(read({ limit: 5, windowMs: 1000, name: 'a' })).toEqual({
      name: 'a',
      policy: fixedWindow({ limit: 5, window: 1000 }),
    });
    expect(read({ max: 5 })).toEqual({ policy: fixedWindow({ limit: 5, window: '1m' }) });
    const own = { policy };
    expect(read(own)).toEqual(own);
    expect(read({ policy, limit: undefined, max: undefined, windowMs: undefined })).toEqual(own);
  });

  test('becomes a function if the limit is a function', async () => {
    const { policy: policyFor } = read({ limit: async (n: number) => n, windowMs: 1000 });
    expect(await (policyFor as (n: number) => unknown)(7)).toEqual(fixedWindow({ limit: 7, window: 1000 }));
    await expect((policyFor as (n: number) => unknown)(0.5)).rejects.toThrow(RangeError);
  });

  test.each<[object, RegExp]>([
    [{ windowMs: 5 }, /windowMs needs limit or max/],
    [{ limit: 5, max: 5 }, /pass limit or max, not both/],
    [{ limit: 5, policy }, /pass limit or policy, not both/],
    [{ max: 5, limits: {} }, /pass max or limits, not both/],
    [{ limit: -1 }, /limit must be a whole number from 0/],
    [{ limit: '5' }, /limit must be a whole number from 0 .* not "5"/],
    [{ limit: 5, windowMs: 'soon' }, /window/],
  ])('rejects %j', (options, message) => expect(() => read(options)).toThrow(message));
});
