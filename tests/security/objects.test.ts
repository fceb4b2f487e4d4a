import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { compileKey } from '@sluice/core/internal';
import {
  fixedWindow,
  isKeyResolutionError,
  memoryStore,
  RateLimiter,
  redisStore,
} from '../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';

const calls: string[] = [];
const called = (what: string) => () => {
  calls.push(what);
  return 'victim';
};
const cyclic: Record<string, unknown> = {};
cyclic.self = [cyclic, { cyclic }];
let deep: unknown = 'victim';
for (let i = 0; i < 100_000; i += 1) deep = { deep: [deep] };
const trap = new Proxy(
  {},
  {
    get: called('get'),
    has: called('has') as never,
    ownKeys: called('ownKeys') as never,
    getPrototypeOf: called('getPrototypeOf') as never,
    getOwnPropertyDescriptor: called('getOwnPropertyDescriptor') as never,
  },
);

/** Objects that convert to text, in every way that JavaScript has. */
const PRETENDERS: readonly unknown[] = [
  { toString: called('toString') },
  { valueOf: called('valueOf') },
  { toJSON: called('toJSON') },
  { [Symbol.toPrimitive]: called('toPrimitive') },
  {
    get [Symbol.toStringTag]() {
      return called('toStringTag')();
    },
  },
  new String('victim'),
  new Number(1),
  Object('victim'),
  ['victim'],
  ['victim', '1000000', '1'],
  Object.assign(['victim'], { toString: called('join') }),
  Object.create(null),
  Object.create({ toString: called('inherited') }),
  new Map([['victim', 'victim']]),
  new Date(0),
  /victim/,
  Buffer.from('victim'),
  new Error('victim'),
  Promise.resolve('victim'),
  Symbol('victim'),
  Symbol.iterator,
  () => 'victim',
  class Victim {},
  runInNewContext('({ toString: () => "victim" })'),
  runInNewContext('["victim"]'),
  cyclic,
  deep,
  trap,
  undefined,
  null,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
];

const stores = { memory: memoryStore(), Redis: redisStore(redisUrl()) };
afterAll(() => Promise.all(Object.values(stores).map((store) => store.close())));
beforeEach(() => calls.splice(0));

const brief = (value: unknown) =>
  value === deep || value === trap ? 'deep or a trap' : inspect(value, { depth: 0 });

describe.each(Object.entries(stores))('%s', (_, store) => {
  test.each(PRETENDERS.map((value, i) => [i, brief(value), value] as const))(
    'rejects a key that is no text or number, without a conversion (%i: %s)',
    async (_i, _brief, value) => {
      const policy = fixedWindow({ limit: 1, window: '1h' });
      const limiter = new RateLimiter({ name: uniqueName('object'), policy, store, deadline: '10s' });
      const error = await limiter.consume(value as string).then(
        () => 'it was counted',
        (reason: unknown) => reason,
      );
      expect(isKeyResolutionError(error)).toBe(true);
      expect(String(error)).not.toContain('victim');
      expect(calls).toEqual([]);
      expect(await limiter.consume('victim')).toMatchObject({ allowed: true });
    },
  );
});

describe('in a key template', () => {
  test.each(PRETENDERS.map((value, i) => [i, brief(value), value] as const))(
    'throws for a value that is no text or number, without a conversion (%i: %s)',
    (_i, _brief, value) => {
      for (const template of ['#{a.b}', 'x:#{a.b}:#{c}', '#{list[*].b}', '#{list[-1:].b}']) {
        const scope = (root: string) => ({ a: { b: value }, c: 'c', list: [{ b: value }] })[root];
        expect(() => compileKey(template).resolve(scope)).toThrow(
          expect.objectContaining({ code: 'SLUICE_KEY_RESOLUTION' }),
        );
      }
      expect(calls).toEqual([]);
    },
  );

  test.each([
    '#{a.x.y}',
    '#{a[*].x}',
    '#{a.*.*}',
    '#{a[0:9].x}',
    '#{a.self[0].self[1].cyclic.x}',
    '#{a.deep[*].deep[*].x}',
  ])('%s finds nothing in cyclic, deep or primitive values', (template) => {
    for (const value of [cyclic, deep, [cyclic], [deep], 'text', 7, null, undefined, Symbol('a'), () => 1]) {
      expect(() => compileKey(template).resolve(() => value)).toThrow(
        expect.objectContaining({ code: 'SLUICE_KEY_RESOLUTION' }),
      );
    }
  });

  test('throws the error of a getter', () => {
    const own = new Error('not signed in');
    const user = {
      get id(): string {
        throw own;
      },
    };
    for (const template of ['#{user.id}', '#{list[*].id}', 'x:#{user.id}:#{list[0].id}']) {
      const scope = (root: string) => (root === 'user' ? user : [user]);
      expect(() => compileKey(template).resolve(scope)).toThrow(own);
    }
  });

  test('calls a getter once for each key', () => {
    let reads = 0;
    const user = {
      get id() {
        reads += 1;
        return reads === 1 ? 'ann' : ['victim'];
      },
    };
    expect(compileKey('#{user.id}').resolve(() => user)).toBe('ann');
    expect(reads).toBe(1);
  });
});
