import { CountLimit, createSluice, SLUICE } from '../../../packages/decorators/src/index.js';
import { onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, place, needs }) => {
  const configuration = () => {
    const { store, keyPrefix, deadline } = place();
    return createSluice({ store, keyPrefix, deadline });
  };

  test('a denial that a decorated method throws is a 429 with its headers', async () => {
    class Sms {
      static readonly [SLUICE] = configuration();

      @CountLimit({ key: '#{query.phone}', period: 3600, limitType: 'CUSTOM' })
      async send() {
        return { sent: true };
      }
    }
    const sms = new Sms();
    const client = await start({ handler: () => sms.send() });
    await client.get('/?phone=1').expect(200, { sent: true });
    const { headers } = await client.get('/?phone=1').expect(429).expect('Retry-After', '3600');
    expect(headers.ratelimit).toMatch(/"countLimit-[\da-f]{8}";r=0;t=3600$/);
    await client.get('/?phone=2').expect(200);
    await client.get('/').expect(400);
  });

  test('a response shows a chosen name, or a distinct name without class and method', async () => {
    class SmsController {
      static readonly [SLUICE] = configuration();

      @CountLimit({ period: 3600, limit: 2 })
      async send() {
        return {};
      }

      @CountLimit({ period: 3600 })
      async check() {
        return {};
      }

      @CountLimit({ period: 3600, prefix: 'codes' })
      async chosen() {
        return {};
      }
    }
    const sms = new SmsController();
    let method = async () => sms.check();
    const errors: unknown[] = [];
    const client = await start({
      errors: 'adapter',
      handler: () =>
        method().catch((error) => {
          errors.push(error);
          throw error;
        }),
    });
    const shown = new Set<unknown>();
    for (method of [() => sms.check(), () => sms.send(), () => sms.chosen()]) {
      let answer = await client.get('/');
      while (answer.status === 200) answer = await client.get('/');
      const { headers, text } = answer.status === 429 ? answer : await client.get('/').expect(429);
      expect(JSON.stringify([headers, text])).not.toMatch(/SmsController|send|check/);
      shown.add(/"([^"]+)"/.exec(headers.ratelimit!)![1]);
    }
    expect([...shown]).toEqual([
      expect.stringMatching(/^countLimit-/),
      expect.stringMatching(/^countLimit-/),
      'codes',
    ]);
    expect(errors).toMatchObject([
      { decision: { name: 'countLimit:SmsController.check' } },
      { decision: { name: 'countLimit:SmsController.send' } },
      { decision: { name: 'codes' } },
    ]);
  });

  needs('trustProxy')(
    'decorated methods read the address, the user and the body of the current request',
    async () => {
      class Mail {
        static readonly [SLUICE] = configuration();

        @CountLimit({ period: 3600, limitType: 'IP' })
        async byAddress() {
          return {};
        }

        @CountLimit({ period: 3600, limitType: 'USER' })
        async byUser() {
          return {};
        }

        @CountLimit({ period: 3600, limitType: 'CUSTOM', key: '#{body.to}' })
        async byBody() {
          return {};
        }
      }
      const mail = new Mail();
      const methods = [() => mail.byAddress(), () => mail.byUser(), () => mail.byBody()];
      let method = 0;
      const client = await start({ trustProxy: true, handler: () => methods[method]!() });
      const post = (address: string, user: string, to: string) =>
        client.post('/').set({ 'X-Forwarded-For': address, 'x-user': user }).send({ to });
      await post('192.0.2.1', 'ann', 'x').expect(200);
      await post('192.0.2.1', 'bob', 'y').expect(429);
      await post('192.0.2.2', 'ann', 'x').expect(200);
      method = 1;
      await post('192.0.2.1', 'ann', 'x').expect(200);
      await post('192.0.2.2', 'ann', 'y').expect(429);
      await post('192.0.2.1', 'bob', 'x').expect(200);
      method = 2;
      await post('192.0.2.1', 'ann', 'x').expect(200);
      await post('192.0.2.2', 'bob', 'x').expect(429);
      await post('192.0.2.1', 'ann', 'y').expect(200);
    },
  );
});
