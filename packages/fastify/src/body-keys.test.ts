import { fixedWindow } from '@sluice/core';
import { Rules } from '@sluice/rules';
import fastify, { type FastifyInstance } from 'fastify';
import { type RateLimitPluginOptions, rateLimit } from './index.js';

const policy = fixedWindow({ limit: 1, window: '1h' });
const key = '#{body.phone}';
const ok = async () => 'ok';

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
});
afterEach(() => app.close());

const rulesOf = (rule: object) =>
  new Rules({
    rules: [
      { name: 'sms', match: { method: 'POST' }, limit: { fixedWindow: { limit: 1, window: '1h' } }, ...rule },
    ],
  } as never);

describe.each(['onRequest', 'preParsing', undefined] as const)('at the hook %s', (given) => {
  const hook = given === undefined ? {} : { hook: given };

  test.each<[string, () => RateLimitPluginOptions, string]>([
    ['a key', () => ({ policy, key }), 'key "#{body.phone}" reads the body'],
    [
      'a limit',
      () => ({ limits: { perPhone: { policy, key } } }),
      'limits.perPhone: key "#{body.phone}" reads',
    ],
    ['a rule', () => ({ rules: rulesOf({ key }) }), "rule 'sms' reads the body"],
    ['a cost', () => ({ rules: rulesOf({ cost: '#{body.tokens}' }) }), "rule 'sms' reads the body"],
  ])('%s that reads the body is refused at registration', async (_, options, message) => {
    const registered = app.register(rateLimit, { ...options(), ...hook });
    await expect(registered).rejects.toThrow(message);
  });

  test('a route with such a key, own or inherited, is refused when it is added', async () => {
    await app.register(rateLimit, { global: false, key, policy, ...hook });
    for (const [i, rateLimit] of [{}, { max: 1 }, { key: '#{body.email}' }].entries()) {
      expect(() => app.post(`/${i}`, { config: { rateLimit } }, ok)).toThrow(
        /^rateLimit: config\.rateLimit of POST \/\d: key .* reads the body, .* use the hook 'preHandler'$/,
      );
    }
  });

  test('a route with such a limit among its hooks is refused when it is added', async () => {
    await app.register(rateLimit, { global: false, key, policy });
    const at = given ?? 'onRequest';
    for (const limit of [app.rateLimit(), app.rateLimit({ policy, key })]) {
      expect(() => app.post('/', { [at]: [async () => {}, limit] }, ok)).toThrow(
        'rateLimit: POST /: key "#{body.phone}" reads the body',
      );
    }
  });
});

test.each(['preValidation', 'preHandler'] as const)(
  'at %s, a key or cost can read the body',
  async (hook) => {
    await app.register(rateLimit, { global: false, key, policy });
    const rules = rulesOf({ cost: '#{body.tokens}' });
    app.post('/config', { config: { rateLimit: { hook } } }, ok);
    app.post('/hook', { [hook]: app.rateLimit() }, ok);
    app.post('/rules', { config: { rateLimit: { hook, rules } } }, ok);
    const send = async (url: string, payload: object) =>
      (await app.inject({ url, method: 'POST', payload })).statusCode;
    for (const url of ['/config', '/hook']) {
      expect([await send(url, { phone: url }), await send(url, {})]).toEqual([200, 400]);
    }
    expect([await send('/rules', { tokens: 2 }), await send('/rules', {})]).toEqual([429, 200]);
  },
);

test('a key that reads an unparsed body is a server error (500), also in a hook added by addHook', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  await app.register(rateLimit);
  app.addHook('onRequest', app.rateLimit({ name: 'early', key, policy }));
  app.post('/', ok);
  const { statusCode, body } = await app.inject({ url: '/', method: 'POST', payload: { phone: '1' } });
  expect([statusCode, JSON.parse(body).message]).toEqual([
    500,
    'The server has no rate limit key for this request',
  ]);
  expect(`${warned.mock.calls[0]}`).toContain("use hook: 'preValidation' or 'preHandler'");
  warned.mockRestore();
});
