import { KeyResolutionError, redisStore } from '../../packages/core/src/index.js';
import { freePort } from '../support/redis/free-port.js';
import { inTenSeconds, onEachAdapter } from './adapters.suite.js';

onEachAdapter(({ start }) => {
  test('a store that does not answer is a 503', async () => {
    const store = redisStore(`redis://127.0.0.1:${await freePort()}`);
    try {
      const client = await start({ limits: [{ name: 'down', policy: inTenSeconds(1), store }] });
      await client.get('/').expect(503);
    } finally {
      await store.close();
    }
  });

  test('a key generator that fails is an error, not an unlimited request', async () => {
    const handler = jest.fn(() => ({}));
    const keyGenerator = () => {
      throw new KeyResolutionError('no key');
    };
    const client = await start({ limits: [{ policy: inTenSeconds(1), keyGenerator }], handler });
    await client.get('/').expect(400);
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([undefined, null, 'route', 'router'])(
    'an option that throws %p is an error, not an unlimited request',
    async (thrown) => {
      const keyGenerator = () => Promise.reject(thrown);
      const client = await start({ limits: [{ policy: inTenSeconds(1), keyGenerator }] });
      await client.get('/').expect(500);
    },
  );

  test('what the limits told is told also when the handler fails', async () => {
    const handler = () => {
      throw Object.assign(new Error('tea'), { status: 418, headers: { 'X-Pot': 'short' } });
    };
    const client = await start({
      limits: [
        { name: 'minute', policy: inTenSeconds(9) },
        { name: 'burst', policy: inTenSeconds(2) },
      ],
      handler,
    });
    await client
      .get('/')
      .expect(418)
      .expect('X-Pot', 'short')
      .expect('RateLimit', '"minute";r=8;t=10, "burst";r=1;t=10');
    await client
      .get('/')
      .expect(418)
      .expect('RateLimit-Policy', '"minute";q=9;w=10, "burst";q=2;w=10')
      .expect('RateLimit', /^"minute";r=7;.*, "burst";r=0;/);
  });

  test.each([undefined, null, 5, {}, { limit: 5 }, { algorithm: 'noSuch' }])(
    'a policy function that gives %j is an error, not an unlimited request',
    async (given) => {
      const handler = jest.fn(() => ({}));
      const policy = () => given as never;
      const client = await start({ limits: [{ policy }], handler });
      await client.get('/').expect(500);
      await client.get('/').expect(500);
      expect(handler).not.toHaveBeenCalled();
    },
  );

  test.each([undefined, {}, { perMinute: undefined }, { perMinute: 5 }, inTenSeconds(1)])(
    'a policies function that gives %j is an error, not an unlimited request',
    async (given) => {
      const handler = jest.fn(() => ({}));
      const policies = async () => given as never;
      const client = await start({ limits: [{ policies }], handler });
      await client.get('/').expect(500);
      expect(handler).not.toHaveBeenCalled();
    },
  );
});
