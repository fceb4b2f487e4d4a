import { hourly, onEachAdapter } from './on-each-framework.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const PROBLEM = /^application\/problem\+json/;

const FORMS: readonly [string, RegExp][] = [
  ['*/*', PROBLEM], // curl
  ['', PROBLEM],
  [BROWSER, /^text\/html; charset=utf-8$/i],
  ['application/json', /^application\/json/],
  ['application/problem+json, application/json', PROBLEM],
  ['text/plain', /^text\/plain; charset=utf-8$/i],
  ['text/plain;q=0.5, application/json', /^application\/json/],
  ['image/png', PROBLEM], // what there is not
  [';;;,,/q=zz\t"', PROBLEM],
  ['text/plain, '.repeat(500), PROBLEM],
];

onEachAdapter(({ start }) => {
  test('a denial has a content type that the client accepts', async () => {
    const client = await start({ limits: [{ policy: hourly(1) }] });
    await client.get('/').expect(200);
    for (const [accept, type] of FORMS) {
      const denied = await client.get('/').set('Accept', accept).expect(429).expect('Content-Type', type);
      const text = denied.text ?? String(denied.body);
      if (denied.type.endsWith('json')) expect(JSON.parse(text).status).toBe(429);
      else expect(text).toContain('Try again in 3600 s.');
      expect(text).toContain('Too Many Requests');
    }
  });

  test('a denial by the denyList has the same content types', async () => {
    const client = await start({ limits: [{ policy: hourly(1), denyList: () => true }] });
    await client
      .get('/')
      .set('Accept', BROWSER)
      .expect(403)
      .expect('Content-Type', /^text\/html/);
    const plain = await client.get('/').set('Accept', 'text/plain').expect(403);
    expect(plain.text).toBe('Forbidden\nRequests from here are not served.\n');
  });

  test('no response contains the key', async () => {
    const client = await start({
      limits: [{ policy: hourly(1), key: '#{query.phone}', legacyHeaders: true, partitionKey: true }],
    });
    await client.get('/?phone=5550123').expect(200);
    for (const accept of ['*/*', 'text/html', 'text/plain']) {
      const denied = await client.get('/?phone=5550123').set('Accept', accept).expect(429);
      expect(JSON.stringify([denied.headers, denied.text, String(denied.body)])).not.toContain('5550123');
    }
  });
});
