import { type Decision, redisStore } from '../../../packages/core/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';
import { freePort } from '../../support/redis/free-port.js';
import { rethrow } from '../../support/rethrow.js';
import type { Limit } from './frameworks/framework.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(
  ({ start }) => {
    const open: { close(): Promise<void> }[] = [];
    afterEach(async () => {
      for (const store of open.splice(0)) await store.close();
    });

    async function out(limit: Partial<Limit>) {
      const store = redisStore(`redis://127.0.0.1:${await freePort()}`);
      open.push(store);
      const handler = jest.fn((decision?: Decision) => ({ source: decision?.source }));
      const client = await start({
        limits: [{ name: 'out', policy: hourly(1), store, ...limit } as Limit],
        handler,
      });
      return { client, handler };
    }

    test('by default this process counts locally while the store is out', async () => {
      const { client, handler } = await out({});
      await client.get('/').expect(200, { source: 'local' }).expect('RateLimit', '"out";r=0;t=3600');
      await client
        .get('/')
        .expect(429)
        .expect('Retry-After', /^(3600|35\d\d)$/); // by the clock of this process
      expect(handler).toHaveBeenCalledTimes(1);
    });

    test('each rule has its own failurePolicy, and the strictest of several applies', async () => {
      const store = redisStore(`redis://127.0.0.1:${await freePort()}`);
      const text = `
rules:
  - { name: api, match: { path: /* }, failurePolicy: allow, limit: { fixedWindow: { limit: 1, window: 1h } } }
  - { name: half, match: { path: /half }, failurePolicy: { local: { share: 0.5 } }, limit: { fixedWindow: { limit: 4, window: 1h } } }
  - { name: money, match: { path: /money }, failurePolicy: deny, limit: { fixedWindow: { limit: 9, window: 1h } } }
  - { name: usual, match: { path: /usual }, limit: { fixedWindow: { limit: 9, window: 1h } } }
`;
      const rules = new Rules(text, { store, failurePolicy: 'deny' });
      open.push(store, rules);
      const client = await start({ limits: [{ rules }] });
      for (let i = 0; i < 3; i += 1) await client.get('/a').expect(200);
      await client.get('/money').expect(503);
      await client.get('/usual').expect(503);
      await client.get('/half').expect(200); // counts locally by all rules, also by api
      await client.get('/half').expect(429);
    });

    test("with 'allow' all requests pass, without RateLimit headers", async () => {
      const { client, handler } = await out({ failurePolicy: 'allow' });
      for (let i = 0; i < 2; i += 1) {
        const { headers } = await client.get('/').expect(200, { source: 'allow' });
        expect(headers).not.toHaveProperty('ratelimit');
      }
      expect(handler).toHaveBeenCalledTimes(2);
    });

    test.each([{}, { timeout: '10s' }])(
      "with 'deny' requests are a 503, and onLimited is not called, %p",
      async (waiting) => {
        const onLimited = jest.fn();
        const message = jest.fn();
        const { client, handler } = await out({ failurePolicy: 'deny', onLimited, message, ...waiting });
        const { body, headers } = await client
          .get('/')
          .set('Accept', 'application/json')
          .expect(503)
          .expect('Retry-After', '1');
        expect(body).toEqual({
          type: 'about:blank',
          title: 'Service Unavailable',
          status: 503,
          detail: 'Try again later.',
        });
        expect(headers).not.toHaveProperty('ratelimit');
        for (const callback of [handler, onLimited, message]) expect(callback).not.toHaveBeenCalled();
      },
    );

    test("with 'deny' and throw the framework receives an error of status 503", async () => {
      const { client, handler } = await out({ failurePolicy: 'deny', throw: true });
      await client.get('/').expect(503).expect('Retry-After', '1');
      expect(handler).not.toHaveBeenCalled();
    });

    test('a function that throws the error is a 503 too', async () => {
      const { client, handler } = await out({ failurePolicy: rethrow });
      await client.get('/').expect(503).expect('Retry-After', '1');
      expect(handler).not.toHaveBeenCalled();
    });

    test("a dry run lets requests pass that 'deny' would deny", async () => {
      const { client } = await out({ failurePolicy: 'deny', dryRun: true, onLimited: () => {} });
      await client.get('/').expect(200);
    });
  },
  ['memory'],
);
