import { memoryStore, RateLimiter, tokenBucketOfRate } from '@sluice/core';
import { CountLimit, configureSluice, createSluice, Limit, LimitType, RateLimit } from './index.js';

const rate = (options: object) => () => RateLimit(options as never);
const count = (options: object) => () => CountLimit(options as never);
const policy = tokenBucketOfRate({ rate: 1, burst: 1 });
const general = (options?: unknown) => () => Limit(options as never);

describe('invalid options throw at decoration', () => {
  test.each<[string, () => unknown, RegExp]>([
    ['unknown', rate({ rates: 1 }), /@RateLimit has no option 'rates'; did you mean 'rate'\?/],
    [
      'unknown',
      count({ window: 1 }),
      /@CountLimit has no option 'window'.*limit, period, notify, prefix, key, limitType/,
    ],
    ['no parentheses', rate(() => {}), /@RateLimit needs parentheses: write @RateLimit\(\)/],
    [
      'key with METHOD',
      rate({ key: '#{id}', limitType: 'METHOD' }),
      /key "#\{id\}" has no effect with limitType METHOD: omit limitType to count by the key/,
    ],
    ['key with IP', count({ key: 'x', limitType: 'IP' }), /key "x" has no effect with limitType IP/],
    ['CUSTOM without key', count({ limitType: LimitType.CUSTOM }), /limitType CUSTOM needs a key/],
    ['limitType', rate({ limitType: 'ip' }), /one of IP, USER, METHOD, CUSTOM, not "ip"/],
    [
      'key',
      rate({ key: 7, limitType: 'CUSTOM' }),
      /key must be a string, a list of keys or a function, not 7/,
    ],
    ['key', rate({ key: 7 }), /key must be a string, a list of keys or a function, not 7/],
    [
      'key',
      rate({ key: () => 'all', limitType: 'METHOD' }),
      /key a function has no effect with limitType METHOD/,
    ],
    ['a key for all', count({ key: 'phone' }), /"phone" has no expression.*limitType 'METHOD'/],
    [
      'a key for all',
      count({ key: 'phone', limitType: 'CUSTOM' }),
      /"phone" has no expression.*'#\{phone\}'.*limitType 'METHOD'/,
    ],
    ['a key for all', general({ policy, key: `\${phone}`, limitType: 'CUSTOM' }), /has no expression/],
    ['key syntax', rate({ key: '#{a', limitType: 'CUSTOM' }), /not closed/],
    ['escalate', rate({ escalate: { after: 0 } }), /@RateLimit: escalate\.after must be .*not 0/],
    ['escalate', count({ escalate: true }), /@CountLimit: escalate takes an options object/],
    [
      'escalate',
      general({ policy, escalate: { after: 1, within: '1h', block: [] } }),
      /escalate\.block must have/,
    ],
    ['notify', count({ notify: ['80'] }), /@CountLimit: notify: a threshold is a part of the limit/],
    ['notify', general({ policy, notify: { all: ['80%'] } }), /^@Limit: notify must be a list/],
    ['notify', rate({ notify: ['80%'] }), /@RateLimit has no option 'notify': .*Use @CountLimit/],
    ['rate', rate({ rate: -1 }), /rate must be a number from 1e-8.*not -1/],
    ['rate text', rate({ rate: '1' }), /rate must be .*not "1"/],
    ['burst', rate({ burst: -1 }), /burst must be .*not -1/],
    ['timeout', rate({ timeout: -1 }), /@RateLimit: timeout must be a number of seconds.*not -1/],
    ['timeout', rate({ timeout: Number.POSITIVE_INFINITY }), /timeout must be .*not Infinity/],
    ['timeout', rate({ timeout: 1 / 3 }), /timeout must be .*whole milliseconds/],
    ['expire', rate({ expire: 0 }), /@RateLimit: expire must be .*not 0/],
    ['expire', rate({ expire: '60' }), /expire must be .*not "60"/],
    ['limit', count({ limit: 1.5 }), /limit must be a whole number from 0 .*not 1.5/],
    ['limit', count({ limit: -1 }), /limit must be .*not -1/],
    ['period', count({ period: 0 }), /@CountLimit: period must be .*not 0/],
    ['period', count({ period: 0.0005 }), /period must be .*not 0.0005/],
    ['period', count({ period: '10s' }), /period must be .*not "10s"/],
    ['prefix', count({ prefix: '' }), /@CountLimit: prefix must be .*not ""/],
    ['prefix', count({ prefix: ':' }), /prefix must be .*not ":"/],
    ['prefix', rate({ prefix: 'a b' }), /prefix must be .*not "a b"/],
    ['prefix', rate({ prefix: 'x'.repeat(101) }), /prefix must be 1 to 100 letters/],
    ['prefix', rate({ prefix: null }), /prefix must be .*not null/],
    ['params', rate({ params: 'phone' }), /params must list .*not "phone"/],
    ['params', rate({ params: ['a', 'a'] }), /params must list .*none twice/],
    ['params', rate({ params: ['0'] }), /params must list/],
    ['params', rate({ params: ['a.b'] }), /params must list/],
    [
      'nothing',
      general(),
      /@Limit takes an options object \(policy, policies, cost, timeout, notify, prefix/,
    ],
    ['no policy', general({}), /@Limit takes a policy, such as slidingLog.*not both/],
    ['both', general({ policy, policies: { policy } }), /@Limit takes a policy, .* not both/],
    ['no parentheses', general(() => {}), /@Limit needs parentheses: write @Limit\(\)/],
    ['unknown', general({ policy, limit: 1 }), /@Limit has no option 'limit': numbers belong to a policy/],
    ['policy', general({ algorithm: 'guess' }), /guess/],
    ['numbers of a policy', general({ ...policy, capacity: 0.5 }), /capacity must be .*not 0.5/],
    ['policies', general({ policies: {} }), /@Limit: policies must be an object of 1 to 20/],
    ['policies', general({ policies: [policy] }), /@Limit: policies must be an object .*not an array/],
    ['name of a policy', general({ policies: { 'a b': policy } }), /@Limit: the name of a policy/],
    ['timeout', general({ policy, timeout: 'soon' }), /@Limit: timeout must be a duration .*not "soon"/],
    ['timeout', general({ policy, timeout: -1 }), /@Limit: timeout must be a duration .*not -1/],
    ['cost', general({ policy, cost: 1.5 }), /@Limit: cost must be a whole number from 0 to \d+, not 1.5/],
    ['cost', general({ policy, cost: '1' }), /@Limit: cost must be .*not "1"/],
    ['cost by policy', general({ policy, cost: { a: 1 } }), /a cost by policy is for several policies/],
    [
      'cost',
      general({ policies: { a: policy }, cost: { b: 1 } }),
      /@Limit: cost by policy has no option 'b'/,
    ],
    ['cost', general({ policies: { a: policy }, cost: { a: -1 } }), /@Limit: cost.a must be .*not -1/],
    [
      'key',
      general({ policy, key: 'x', limitType: 'METHOD' }),
      /@Limit: key "x" has no effect with limitType METHOD/,
    ],
    ['prefix', general({ policy, prefix: '' }), /@Limit: prefix must be .*not ""/],
  ])('%s: %#', (_, decorate, message) => {
    expect(decorate).toThrow(message);
  });

  test('a prefix accepts exactly the characters of a limiter name', () => {
    for (let code = 0; code < 256; code += 1) {
      const prefix = `a${String.fromCharCode(code)}b`;
      const accepted = (make: () => unknown) => {
        try {
          make();
          return true;
        } catch {
          return false;
        }
      };
      expect(accepted(rate({ prefix }))).toBe(accepted(() => new RateLimiter({ name: prefix, policy })));
    }
  });

  test.each<[object, RegExp]>([
    [{ stores: 1 }, /has no option 'stores'; did you mean 'store'\?/],
    [{ elephant: 1 }, /no option 'elephant'.*store, rules, user, ipv6Subnet, keyPrefix, deadline/],
    [{ store: {} }, /store must be memoryStore\(\)/],
    [{ user: 'id' }, /user must be a function/],
    [{ ipv6Subnet: 20 }, /ipv6Subnet must be a whole number from 32 to 128, not 20/],
    [{ keyPrefix: 'a b' }, /keyPrefix must be/],
    [{ deadline: 'soon' }, /deadline must be a duration/],
  ])('configuration %p', (options, message) => {
    expect(() => configureSluice(options as never)).toThrow(message);
    expect(() => createSluice(options as never)).toThrow(message);
  });

  test('a valid store and options are accepted', () => {
    expect(() => createSluice({ store: memoryStore(), ipv6Subnet: 56, deadline: '50ms' })).not.toThrow();
  });
});

const custom = (key: string, params?: readonly string[]) =>
  CountLimit({ key, limitType: 'CUSTOM', ...(params && { params }) });
// biome-ignore lint/suspicious/noExplicitAny: what a program without types can write
const limit: any = CountLimit();

describe('errors at decoration', () => {
  test('an unknown name in a key throws with the known names and the remedy', () => {
    expect(() => {
      class Sms {
        @custom('#{fone}')
        async send(_phone: string, { code: _code }: { code: number }) {}
      }
      return Sms;
    }).toThrow(
      /@CountLimit on send: the key "#\{fone\}" uses 'fone', .* parameter \(_phone, _code\) .*position.*\(ip, user, .*params: \['fone', …\]/,
    );
  });

  test.each([
    ['fone', 'phone'],
    ['pone.number', 'phone'],
    ['qery.page', 'query'],
  ])('a misspelt name %s in a key throws and names the nearest one, %s', (name, meant) => {
    expect(() => {
      class Sms {
        @custom(`#{${name}}`)
        async send(phone: string) {
          return phone;
        }
      }
      return Sms;
    }).toThrow(`; did you mean '${meant}'? Where the code is minified`);
  });

  test('an invalid position, or a name that params does not declare, throws', () => {
    expect(() => {
      class A {
        @custom('#{100}')
        async a() {}
      }
      return A;
    }).toThrow(RangeError);
    expect(() => {
      class A {
        @custom('#{phone}', ['fone'])
        async a(_phone: string) {}
      }
      return A;
    }).toThrow(/parameter \(fone\)/);
  });

  test.each<[string, () => unknown, RegExp]>([
    [
      'getter',
      () => {
        class A {
          @limit
          get list() {
            return 1;
          }
        }
        return A;
      },
      /not a getter/,
    ],
    [
      'accessor',
      () => {
        class A {
          @limit
          accessor list = 1;
        }
        return A;
      },
      /not an accessor/,
    ],
    [
      'symbol without a description',
      () => {
        class A {
          @limit
          async [Symbol()]() {}
        }
        return A;
      },
      /needs its description/,
    ],
    [
      'name that is too long for a limiter',
      () => {
        class A {
          @limit
          async ['x'.repeat(100)]() {}
        }
        return A;
      },
      /"countLimit:x{100}" is too long for the name of a limiter, which has 1 to 100 characters: pass a prefix/,
    ],
  ])('%s throws', (_, decorate, message) => {
    expect(decorate).toThrow(message);
    expect(decorate).toThrow(TypeError);
  });
});

describe('a number that looks like another unit', () => {
  let emitted: jest.SpyInstance;
  beforeEach(() => {
    emitted = jest.spyOn(process, 'emitWarning').mockImplementation();
  });
  afterEach(() => emitted.mockRestore());
  const messages = () => emitted.mock.calls.map(([message, { code }]) => [code, message]);

  test.each<[string, () => unknown, string]>([
    [
      '@Limit',
      general({ policy, timeout: 2 }),
      "@Limit: timeout: 2 is 2 milliseconds. Write '2s' if you mean seconds, '2ms' if you mean milliseconds",
    ],
    [
      '@Limit by a rule',
      () => Limit('sms', { timeout: 5 }),
      "@Limit: timeout: 5 is 5 milliseconds. Write '5s' if you mean seconds, '5ms' if you mean milliseconds",
    ],
    [
      '@RateLimit',
      rate({ timeout: 2000 }),
      '@RateLimit: timeout: 2000 is 2000 seconds, which are 33.3 minutes. Write timeout: 2 if you mean 2000 milliseconds',
    ],
    [
      '@CountLimit',
      count({ period: 60_000 }),
      '@CountLimit: period: 60000 is 60000 seconds, which are 16.7 hours. Write period: 60 if you mean 60000 milliseconds',
    ],
  ])('%s warns once, with both readings', (_, decorate, message) => {
    decorate();
    decorate();
    expect(messages()).toEqual([['SLUICE_UNIT', message]]);
  });

  test.each([1000, 5000, 10_000, 30_000, 180_000, 300_000, 900_000, 3_600_000, 86_400_000])(
    'a period of %d warns',
    (period) => {
      count({ period })();
      expect(messages()).toHaveLength(1);
    },
  );

  test.each([1, 60, 999, 3600, 7200, 18_000, 36_000, 86_400, 604_800, 864_000, 2_592_000, 31_536_000])(
    'a period of %d does not warn',
    (period) => {
      count({ period })();
      rate({ timeout: period })();
      expect(messages()).toEqual([]);
    },
  );

  test.each([0, 0.5, 100, 2000, '2s', '2ms'])('a timeout of %p in @Limit does not warn', (timeout) => {
    general({ policy, timeout })();
    expect(messages()).toEqual([]);
  });
});
