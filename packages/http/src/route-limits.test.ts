import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { BodyHooks } from './body-keys.js';
import type { RequestLimitOptions } from './request-limit-options.js';
import { RouteLimits, routeName } from './route-limits.js';

type Options = RequestLimitOptions<never>;

/** Limits of a framework that only shows the options of each limit. */
class ShownLimits extends RouteLimits<Options, Options> {
  protected readonly choices = ['limiter', 'rules', 'policy', 'policies', 'limits'] as const;
  protected readonly answers = ['message', 'throw'] as const;
  readonly closing: (() => Promise<void>)[] = [];

  protected make = (options: Options) => options;
  protected onClose = (close: () => Promise<void>) => void this.closing.push(close);
}

const [hourly, daily] = ['1h', '1d'].map((window) => fixedWindow({ limit: 1, window }));
const get = (path: string) => ({ methods: ['GET'], path });

test.each([
  [['GET'], '/users/:id', 'GET:/users/:id'],
  [['HEAD', 'GET', 'POST'], '/', 'GET.POST:/'],
])('a route of %j at %s has the name %s', (methods, path, name) => {
  expect(routeName({ methods, path })).toBe(name);
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
  const limits = new ShownLimits(
    { name: 'all', policy: hourly, key: '#{user.id}', message: 'no', keyPrefix: 'a', notify: ['80%'] },
    undefined,
  );
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
  expect(limits.ofRoute({ methods: ['HEAD'], path: '/a' }, written, written)).toBe(made);
  expect(limits.ofRoute(get('/b'), written, written)).not.toBe(made);
  expect(limits.ofRoute(get('/c'), {}, {})).toBe(shared);
  expect(limits.own('app.limit', {})).toBe(shared);
});

test('routes share one store of their own, which closes with the server', async () => {
  const limits = new ShownLimits({}, undefined);
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

test('a limit that reads the body is refused at a hook before the parser', () => {
  const hooks = new BodyHooks<'early' | 'late'>(['early'], (hook) => `not parsed at ${hook}`);
  const reading = { key: '#{body.phone}' };
  hooks.check('limit', 'late', reading);
  hooks.check('limit', 'early', { key: '#{user.id}' });
  expect(() => hooks.check('limit', 'early', reading)).toThrow(
    'limit: key "#{body.phone}" reads the body, not parsed at early',
  );
  const limit = {};
  hooks.remember(limit, reading);
  hooks.checkRoute('GET /', () => [{}]);
  expect(() => hooks.checkRoute('GET /', () => [{}, limit])).toThrow(
    'GET /: key "#{body.phone}" reads the body',
  );
});
