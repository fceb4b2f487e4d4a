import { CountLimit } from '../../packages/decorators/src/index.js';
import { uniqueName } from '../support/redis-url.js';
import { onEachAdapter } from './adapters.suite.js';

onEachAdapter(({ start }) => {
  test('a denial that the handler throws is a 429 with its headers', async () => {
    class Sms {
      @CountLimit({ key: '#{query.phone}', period: 60, limitType: 'CUSTOM', prefix: uniqueName('sms') })
      async send() {
        return { sent: true };
      }
    }
    const sms = new Sms();
    const client = await start({ handler: () => sms.send() });
    await client.get('/?phone=1').expect(200, { sent: true });
    const { headers } = await client
      .get('/?phone=1')
      .expect(429)
      .expect('Retry-After', /^(?:60|59)$/);
    expect(headers.ratelimit).toMatch(/;r=0;t=(?:60|59)$/);
    await client.get('/?phone=2').expect(200);
    await client.get('/').expect(400);
  });

  test('decorated methods know addresses, users and bodies of the current request', async () => {
    const prefix = uniqueName('mail');
    class Mail {
      @CountLimit({ period: 60, limitType: 'IP', prefix: `${prefix}:ip` })
      async byAddress() {
        return {};
      }

      @CountLimit({ period: 60, limitType: 'USER', prefix: `${prefix}:user` })
      async byUser() {
        return {};
      }

      @CountLimit({ period: 60, limitType: 'CUSTOM', key: '#{body.to}', prefix: `${prefix}:body` })
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
  });
});
