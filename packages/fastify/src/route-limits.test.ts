import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import type { RateLimitOptions as Options } from './options.js';
import { routeName, ScopeLimits } from './route-limits.js';

/** Limits that only show their options. */
class ShownLimits {
  readonly closing: (() => Promise<void>)[] = [];
  readonly #limits: ScopeLimits;

  constructor(options: Options, shared?: object) {
    const addHook = (_name: string, close: () => Promise<void>) => this.closing.push(close);
    this.#limits = new ScopeLimits({ addHook } as never, options, 'onRequest', shared as never);
    Object.assign(this.#limits, { make: (made: Options) => made });
  }

  ofRoute = (route: Parameters<typeof routeName>[0], written: object, own: Options) =>
    this.#limits.ofRoute(route, written, own) as Options;
  own = (where: string, written: Options) => this.#limits.own(where, written) as Options;
}

const [hourly, daily] = ['1h', '1d'].map((window) => fixedWindow({ limit: 1, window }));
const get = (url: string) => ({ method: 'GET', url });

test.each([
  [['GET'], '/users/:id', 'GET:/users/:id'],
  [['HEAD', 'GET', 'POST'], '/', 'GET.POST:/'],
])('a route of %j at %s has the name %s', (method, url, name) => {
  expect(routeName({ method, url })).toBe(name);
});

test('routes with other constraints have other names, in any order', () => {
  const named = (constraints: Record<string, string>) => routeName({ ...get('/'), constraints });
  expect(named({ version: '1', host: 'a' })).toBe(named({ host: 'a', version: '1' }));
  expect(named({ version: '2', host: 'a' })).not.toBe(named({ host: 'a', version: '1' }));
});

test('a route whose name no limiter can have gets a name of its own that one can', () => {
  const names = ['/a b', '/a?b', `/${'x'.repeat(100)}`, `/${'x'.repeat(101)}`].map((path) =>
    routeName(get(path)),
  );
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(new RateLimiter({ name, policy: hourly! }).name).toBe(name);
});

test('a route inherits the options of which it gives none of the group', () => {
  const limits = new ShownLimits({
    name: 'all',
    policy: hourly,
    key: '#{user.id}',
    message: 'no',
    keyPrefix: 'a',
    notify: ['80%'],
  });
  const made = limits.ofRoute(get('/'), {}, { policy: daily, throw: true });
  expect(made).toEqual({
    name: 'GET:/',
    store: expect.anything(),
    policy: daily,
    key: '#{user.id}',
    keyPrefix: 'a',
    throw: true,
    prefetch: made.prefetch,
  });
  expect(limits.ofRoute(get('/ip'), {}, { limitType: 'IP', keyPrefix: 'b' })).toMatchObject({
    policy: hourly,
    limitType: 'IP',
    keyPrefix: 'b',
    message: 'no',
  });
  const limiter = new RateLimiter({ policy: hourly! });
  expect(limits.ofRoute(get('/own'), {}, { limiter })).toEqual({ limiter, message: 'no' });
});

test('HEAD shares the limit of its GET, and routes without options share the limit of the plugin', () => {
  const shared: Options = { policy: hourly };
  const limits = new ShownLimits(shared, shared);
  const written = { policy: daily };
  const made = limits.ofRoute(get('/a/'), written, written);
  expect(limits.ofRoute({ method: 'HEAD', url: '/a' }, written, written)).toBe(made);
  expect(limits.ofRoute(get('/b'), written, written)).not.toBe(made);
  expect(limits.ofRoute(get('/c'), {}, {})).toBe(shared);
  expect(limits.own('app.limit', {})).toBe(shared);
});

test('routes share one store of their own, which closes with the server', async () => {
  const limits = new ShownLimits({});
  const [one, other] = ['/a', '/b'].map((path) => limits.ofRoute(get(path), {}, { policy: hourly }));
  expect(other!.store).toBe(one!.store);
  expect(limits.closing).toHaveLength(1);
  await limits.closing[0]!();
});

test("a limit of the program's own needs a name in the plugin's store", () => {
  const limits = new ShownLimits({ store: memoryStore() }, undefined);
  expect(() => limits.own('app.limit', { policy: hourly })).toThrow(
    "app.limit: a limit in the plugin's store needs its own name, such as app.limit({ name: 'login', … })",
  );
  expect(limits.own('app.limit', { policy: hourly, name: 'a' })).toMatchObject({ name: 'a' });
});
