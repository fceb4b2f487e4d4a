import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import type { RateLimitGuardOptions } from './options.js';
import { markOverride, overridden, overrideOf } from './override-limit.js';

const [policy, own] = [fixedWindow({ limit: 100, window: '1m' }), fixedWindow({ limit: 1, window: '1m' })];
const limiter = new RateLimiter({ name: 'yours', policy });
const [user, keyGenerator] = [() => 7, () => 'x'];
const store = memoryStore();

test.each<[RateLimitGuardOptions, RateLimitGuardOptions, RateLimitGuardOptions]>([
  [{ policy, statusCode: 420 }, { policy: own }, { policy: own, statusCode: 420, name: 'default:A.b' }],
  [{ policy, name: 'api' }, { policy: own }, { policy: own, name: 'api:A.b' }],
  [{ policy }, { policy: own, name: 'own' }, { policy: own, name: 'own' }],
  [{ policy, cost: 2 }, { policy: own }, { policy: own, name: 'default:A.b' }],
  [{ policy, limitType: 'USER', user }, { cost: 5 }, { policy, limitType: 'USER', user, cost: 5 }],
  [
    { policy, limitType: 'USER', user },
    { limitType: 'IP' },
    { policy, limitType: 'IP', name: 'default:A.b' },
  ],
  [{ policy, keyGenerator }, { policy: own }, { policy: own, keyGenerator, name: 'default:A.b' }],
  [{ limiter, keyGenerator }, { policy: own }, { policy: own, name: 'default:A.b' }],
  [{ limiter, keyGenerator }, { cost: 5 }, { limiter, keyGenerator, cost: 5 }],
  [{ policy, name: 'api', store, key: '#{ip}' }, { limiter }, { limiter, key: '#{ip}' }],
  [
    { policy, limitType: 'USER' },
    { limits: { one: { policy: own } } },
    { limits: { one: { policy: own } }, name: 'default:A.b' },
  ],
])('the limit %j with the override %j', (limit, override, expected) => {
  expect(overridden(limit, override, 'A.b')).toEqual(expected);
});

test('every class and method name yields a valid limit name', () => {
  expect(overridden({}, { policy }, 'Größe$.发').name).toBe('default:Gr@u00f6@u00dfe@u0024.@u53d1');
});

test('markOverride marks handlers and controllers, and subclasses inherit it', () => {
  class Base {
    list() {}
  }
  class Derived extends Base {}
  markOverride({ cost: 2 })(Base.prototype, 'list', Object.getOwnPropertyDescriptor(Base.prototype, 'list')!);
  markOverride({ cost: 3 })(Base);
  expect(overrideOf(Derived)).toEqual({ cost: 3 });
  expect(overrideOf(new Derived().list)).toEqual({ cost: 2 });
});

test.each<[() => unknown, RegExp]>([
  [() => markOverride({ polcy: policy } as never), /@OverrideLimit has no option 'polcy'/],
  [() => markOverride(undefined as never), /@OverrideLimit takes an options object/],
  [() => markOverride({ cost: 1 })({}, 'field', {}), /@OverrideLimit is for handlers and controllers only/],
])('invalid uses throw at decoration: %#', (decorate, message) => {
  expect(decorate).toThrow(message);
});
