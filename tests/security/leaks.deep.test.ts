import { Redis } from 'ioredis';
import { redisStore } from '../../packages/core/src/index.js';
import { hourly, onEachAdapter } from '../contracts/adapters/on-each-framework.js';
import { freePort } from '../support/redis/free-port.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';

/** A key, and every form in which a response could contain it: as it is, and as it is stored. */
const SECRET = 'phone+4670{1740}605';
const LEAKED = /4670|1740|605|sluice:v/i;
const ACCEPTED = ['*/*', 'application/json', 'text/html', 'text/plain', 'application/problem+json'];

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text?: string;
  readonly body: unknown;
}
const all = ({ headers, text, body }: Answer) => `${JSON.stringify(headers)}\n${text ?? String(body)}`;

onEachAdapter(({ start, limiter, place, methodOf }) => {
  test('no header and no body contains a key, whether a request passes, is denied, lacks a key or is forbidden', async () => {
    const client = await start({
      limits: [
        {
          name: 'by-key',
          policy: hourly(1),
          key: '#{headers.x-key}',
          skip: (request) => methodOf(request) !== 'GET',
        },
        {
          name: 'by-body',
          policy: hourly(1),
          key: '#{body.key}',
          skip: (request) => methodOf(request) !== 'POST',
        },
        {
          name: 'listed',
          policy: hourly(9),
          limitType: 'METHOD',
          denyList: (request) => methodOf(request) === 'PUT',
        },
      ],
    });
    const statuses = new Set<number>();
    const check = (answer: Answer) => {
      statuses.add(answer.status);
      expect(all(answer)).not.toMatch(LEAKED);
    };
    for (const type of ACCEPTED) {
      check(await client.get('/').set('Accept', type).set('x-key', SECRET));
      check(
        await client
          .post('/')
          .set('Accept', type)
          .send({ key: [SECRET] }),
      );
      check(
        await client
          .post('/')
          .set('Accept', type)
          .send({ key: { [SECRET]: SECRET } }),
      );
      check(await client.put('/').set('Accept', type).set('x-key', SECRET));
    }
    expect([...statuses].sort()).toEqual([200, 400, 403, 429]);
  });

  test('a response with partitionKey contains a digest, and not the key', async () => {
    const client = await start({
      limits: [{ policy: hourly(1), key: '#{headers.x-key}', partitionKey: true }],
    });
    const answer = await client.get('/').set('x-key', SECRET).expect(200);
    expect(answer.headers.ratelimit).toMatch(/;pk=:[A-Za-z0-9+/]{16}:$/);
    expect(all(answer)).not.toMatch(LEAKED);
  });

  test('a key with line breaks injects no header', async () => {
    const client = await start({
      limits: [{ policy: hourly(1), key: '#{query.key}', partitionKey: true, legacyHeaders: true }],
    });
    for (const status of [200, 429]) {
      const answer = await client.get('/?key=a%0D%0ASet-Cookie:%20x=1%0D%0A%0D%0A<b>').expect(status);
      expect(answer.headers).not.toHaveProperty('set-cookie');
      expect(all(answer)).not.toMatch(/cookie|<b>/i);
    }
  });

  test('a denial of a blocked key does not contain the key', async () => {
    const limit = limiter('by-hand', hourly(9));
    const client = await start({ limits: [{ limiter: limit, key: '#{headers.x-key}' }] });
    await limit.block(SECRET, '1h');
    expect(all(await client.get('/').set('x-key', SECRET).expect(429))).not.toMatch(LEAKED);
  });

  test('an error of the store does not contain the key', async () => {
    const down = redisStore(`redis://127.0.0.1:${await freePort()}`);
    const store = redisStore(redisUrl());
    const redis = new Redis(redisUrl());
    try {
      const limits = {
        down: { ...place('down'), store: down, failurePolicy: 'deny' as const },
        foreign: { ...place('foreign'), store },
      };
      for (const [name, at] of Object.entries(limits)) {
        const own = { ...at, policy: hourly(1), key: '#{headers.x-key}', name: uniqueName(name) };
        const client = await start({ limits: [own] });
        const status = (await client.get('/').set('x-key', SECRET)).status;
        const [stored] = await redis.keys(`*:${own.name}:*`);
        if (stored !== undefined) await redis.set(stored, 'foreign', 'PX', 60_000);
        const answer = await client.get('/').set('x-key', SECRET);
        expect([status, answer.status]).toEqual(name === 'down' ? [503, 503] : [200, 500]);
        expect(all(answer)).not.toMatch(LEAKED);
      }
    } finally {
      redis.disconnect();
      await Promise.all([down.close(), store.close()]);
    }
  });
});
