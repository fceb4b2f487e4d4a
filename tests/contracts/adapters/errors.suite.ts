import { KeyResolutionError } from '../../../packages/core/src/index.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start }) => {
  test('a keyGenerator that throws is an error, not an unlimited request', async () => {
    const handler = jest.fn(() => ({}));
    const keyGenerator = () => {
      throw new KeyResolutionError('no key');
    };
    const client = await start({ limits: [{ policy: hourly(1), keyGenerator }], handler });
    await client.get('/').expect(400);
    expect(handler).not.toHaveBeenCalled();
  });

  test('any value that an option throws is a 500, not an unlimited request', async () => {
    const handler = jest.fn(() => ({}));
    const thrown = [undefined, null, 'route', 'router', 0, {}];
    let next = 0;
    const keyGenerator = () => Promise.reject(thrown[next]);
    const client = await start({ limits: [{ policy: hourly(1), keyGenerator }], handler });
    for (next = 0; next < thrown.length; next += 1) await client.get('/').expect(500);
    expect(handler).not.toHaveBeenCalled();
  });

  test.each(['skip', 'cost', 'allowList', 'denyList', 'policy', 'policies'])(
    'a function %s that fails is an error, not an unlimited request',
    async (option) => {
      const handler = jest.fn(() => ({}));
      const fails = () => Promise.reject(new Error('no'));
      const limit = { ...(option.startsWith('polic') ? {} : { policy: hourly(9) }), [option]: fails };
      const client = await start({ limits: [limit], handler });
      await client.get('/').expect(500);
      expect(handler).not.toHaveBeenCalled();
    },
  );

  test('headers of the limits are also sent when the handler fails', async () => {
    const handler = () => {
      throw Object.assign(new Error('tea'), { status: 418, headers: { 'X-Pot': 'short' } });
    };
    const client = await start({
      limits: [
        { name: 'minute', policy: hourly(9) },
        { name: 'burst', policy: hourly(2) },
      ],
      handler,
    });
    await client
      .get('/')
      .expect(418)
      .expect('X-Pot', 'short')
      .expect('RateLimit', '"minute";r=8;t=3600, "burst";r=1;t=3600');
    await client
      .get('/')
      .expect(418)
      .expect('RateLimit-Policy', '"minute";q=9;w=3600, "burst";q=2;w=3600')
      .expect('RateLimit', /^"minute";r=7;.*, "burst";r=0;/);
  });

  test('a function that returns no policy is a 500, not an unlimited request', async () => {
    const handler = jest.fn(() => ({}));
    const values = [undefined, null, 5, {}, { limit: 5 }, { algorithm: 'noSuch' }];
    let next = 0;
    const policy = () => values[next] as never;
    const client = await start({ limits: [{ policy }], handler });
    for (next = 0; next < values.length; next += 1) {
      await client.get('/').expect(500);
      await client.get('/').expect(500);
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test('a function that returns no policies is a 500, not an unlimited request', async () => {
    const handler = jest.fn(() => ({}));
    const values = [undefined, {}, { perMinute: undefined }, { perMinute: 5 }, hourly(1)];
    let next = 0;
    const policies = async () => values[next] as never;
    const client = await start({ limits: [{ policies }], handler });
    for (next = 0; next < values.length; next += 1) await client.get('/').expect(500);
    expect(handler).not.toHaveBeenCalled();
  });
});
