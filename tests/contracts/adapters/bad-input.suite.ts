import { RawClient } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, url, needs }) => {
  needs('trustProxy')('an invalid address is a 400, and never a client of its own', async () => {
    const client = await start({ trustProxy: true, limits: [{ policy: hourly(1) }] });
    const from = async (address: string) => (await client.get('/').set('X-Forwarded-For', address)).status;
    const malformed = [
      '127.1',
      '0x7f000001',
      '2130706433',
      '1.2.3.4.5',
      '::1::',
      'unknown',
      '_hidden',
      '<script>',
      '1.2.3.999',
    ];
    const answers = [];
    for (const address of malformed) answers.push(await from(address));
    expect(answers).toEqual(malformed.map(() => 400));
  });

  needs('trustProxy')('the port of an address does not count', async () => {
    const client = await start({ trustProxy: true, limits: [{ policy: hourly(1) }] });
    const from = (address: string) => client.get('/').set('X-Forwarded-For', address);
    await from('192.0.2.1:1000').expect(200);
    await from('192.0.2.1:1001').expect(429);
    await from('192.0.2.1').expect(429);
    await from('[2001:db8::1]:443').expect(200);
    await from('2001:db8::2').expect(429);
  });

  test('hostile headers change nothing', async () => {
    await start({ limits: [{ policy: hourly(2), key: "#{headers['x-key']}" }] });
    const hostile = {
      RateLimit: '"default";r=99;t=0',
      'Retry-After': '0',
      'X-RateLimit-Remaining': '99',
      'X-Forwarded-For': ', , ,',
      Forwarded: 'for="[::1',
      Accept: `${'a'.repeat(300)}/${'b'.repeat(300)};q=${'9'.repeat(300)}`,
      'x-key': '\x80\xff{}"\\',
      Connection: 'close',
    };
    const answers = [];
    for (let i = 0; i < 3; i += 1) {
      const client = new RawClient(url());
      client.send('/', hostile);
      answers.push((await client.closed()).slice(9, 12));
    }
    expect(answers).toEqual(['200', '200', '429']);
  });

  test('a repeated header is one client', async () => {
    await start({ limits: [{ policy: hourly(1), key: "#{headers['x-key']}" }] });
    const answers = [];
    for (let i = 0; i < 2; i += 1) {
      const client = new RawClient(url());
      client.write('GET / HTTP/1.1\r\nHost: a\r\nX-Key: a\r\nx-key: b\r\nConnection: close\r\n\r\n');
      answers.push((await client.closed()).slice(9, 12));
    }
    expect(answers).toEqual(['200', '429']);
  });
});
